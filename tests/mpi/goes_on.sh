#!/usr/bin/env bash
# tests/mpi/goes_on.sh PROGRAM MPIRUN...: a training of which one rank is killed at any time, and which the ranks that are left continue, ends with
# the bits of one that nothing has disturbed. 6 kills, or with ROWAN_NIGHTLY 50.
set -euo pipefail
program=$1
mpirun=("${@:2}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# run RANKS FOLDER VICTIM MICROSECONDS
run() { timeout 120 "${mpirun[@]}" -np "$1" "$program" "${@:2}" 2>"$folder/errors"; }
expected=$(run 1 "$folder/whole" -1 0)
grep -q '^hash ' <<<"$expected"
RANDOM=1
kills=0
while ((kills < ${ROWAN_NIGHTLY:+44} + 6)); do
    ranks=$((2 + RANDOM % 3))
    status=0
    said=$(run $ranks "$folder/run" $((RANDOM % ranks)) $((RANDOM % 300 * 1000 + RANDOM % 1000))) || status=$?
    if ((status == 124)); then
        echo "FAILED: hangs after $kills kills on $ranks ranks"
        exit 1
    elif ((status == 0)); then
        diff <(echo "$expected") <(echo "$said")
        rm -rf "$folder/run"
    elif [[ -e $folder/run.killed ]]; then
        kills=$((kills + 1))
    else
        cat "$folder/errors"
        echo "FAILED: ends with status $status, although no rank was killed"
        exit 1
    fi
    rm -f "$folder/run.killed"
done
diff <(echo "$expected") <(run 3 "$folder/run" -1 0)
echo "killed $kills times: the same hash"
