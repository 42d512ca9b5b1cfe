# tests/program.sh: checks of a program, $program, whose output and errors go to the current folder. Read by the tests
# of the jobs before they change the folder; they exit with $failed.

failed=0
must() { # SENTENCE COMMAND...
    if ! "${@:2}"; then
        echo "FAILED: $1"
        failed=1
    fi
}
# refuses SENTENCE ARGUMENT...: exit status 2 and, on stderr, one line that holds SENTENCE.
refuses() {
    local status=0
    "$program" "${@:2}" >out.txt 2>err.txt </dev/null || status=$?
    must "${*:2}: status $status, not 2" test $status = 2
    must "${*:2}: one line on stderr, not $(cat err.txt)" test "$(wc -l <err.txt)" = 1
    must "${*:2}: no \"$1\" in: $(cat err.txt)" grep -qF -- "$1" err.txt
}
