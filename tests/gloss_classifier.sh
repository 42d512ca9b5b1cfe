#!/usr/bin/env bash
# tests/gloss_classifier.sh [--short] PROGRAM [FOLDER]: what the gloss classifier accepts, refuses, learns and prints; --short with 2,000 of
# WordNet's sentences, not all. It writes only to FOLDER, or to a temporary one. What this machine cannot do is named in a line that begins
# with SKIPPED.
# tests/gloss_classifier.sh --same PROGRAM PROGRAM: two programs print the same of those 2,000.
set -euo pipefail
how=
if [[ $1 == --* ]]; then
    how=$1
    shift
fi
gru=$(realpath "$1")
if [[ $how == --same ]]; then
    other=$(realpath "$2")
    set -- "$1"
fi
folder=${2:-$(mktemp -d)}
if (($# < 2)); then trap 'rm -rf "$folder"' EXIT; fi
mkdir -p "$folder"
cd "$folder"

# The first 500 sentences of each part of WordNet.
first_2000() {
    mkdir -p first
    local part
    for part in noun verb adj adv; do awk '/^  / || ++n <= 500' "/usr/share/wordnet/data.$part" >"first/data.$part"; done
}
if [[ $how == --same ]]; then
    first_2000
    for model in bag gru; do
        for each in "$gru" "$other"; do
            "$each" --model $model --wordnet first --epochs 2 --dim 16 --classify 'a large wild cat with stripes' </dev/null |
                grep -v tokens/s >"$model.$([[ $each == "$gru" ]] && echo one || echo other)"
        done
        diff $model.one $model.other
        grep checksum $model.one
    done
    exit
fi
program=$PWD/bag # the first model, unless it says otherwise
printf '#!/usr/bin/env bash\nexec %q --model bag "$@"\n' "$gru" >"$program"
chmod +x "$program"

failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}
skip() { # PART REASON
    echo "SKIPPED example, gloss_classifier, $1: $2"
}
must() { # SENTENCE COMMAND...
    if ! "${@:2}"; then fail "$1"; fi
}

# refuses SENTENCE ARGUMENT...: exit status 2 and, on stderr, one line that holds SENTENCE.
refuses() {
    local status=0
    "$program" "${@:2}" >out.txt 2>err.txt </dev/null || status=$?
    must "${*:2}: status $status, not 2" test $status = 2
    must "${*:2}: one line on stderr, not $(cat err.txt)" test "$(wc -l <err.txt)" = 1
    must "${*:2}: no \"$1\" in: $(cat err.txt)" grep -qF -- "$1" err.txt
}

# Arguments.
refuses '--epochs: "-1" is not a whole number from 0 to 1000' --epochs -1
refuses '--epochs: "two" is not a whole number' --epochs two
refuses '--threads: "-1" is not a whole number' --threads -1
refuses '--dim: "0" is not a whole number from 1 to 1024' --dim 0
refuses '--dim: "64.5" is not a whole number' --dim 64.5
refuses '--seed: "-1" is not a whole number' --seed -1
refuses '--seed: "18446744073709551616" is not a whole number' --seed 18446744073709551616
refuses '--bogus' --bogus
refuses '--device: tpu not in {' --device tpu
if ! grep -q '^ROWAN_CUDA:.*=ON$' "$(dirname "$gru")/../CMakeCache.txt" 2>/dev/null; then
    refuses '--device cuda: this program was built without CUDA' --device cuda
fi
refuses '--epochs' --epochs
refuses '--classify: byte 6 is not UTF-8' --classify $'a caf\xe9'
"$program" --help >help.txt
for option in --epochs --threads --seed --dim --classify 'label<TAB>text' '2654435761'; do
    must "--help says nothing of $option" grep -qF -- "$option" help.txt
done

# Files that cannot be used.
refuses 'missing.txt cannot be read: No such file or directory' missing.txt
refuses 'cannot be read: Is a directory' .
refuses "the file's name is empty" ''
refuses 'missing/data.noun cannot be read' --wordnet missing
: >empty.txt
refuses 'empty.txt is empty' empty.txt
printf 'a\tone\n\nb\ttwo\n' >blank.txt
refuses 'blank.txt, line 2: no tab between label and text' blank.txt
printf 'a\tone\nb\ttwo\nc three\n' >tab.txt
refuses 'tab.txt, line 3: no tab between label and text' tab.txt
printf 'a\tone\n\ttwo\n' >label.txt
refuses 'label.txt, line 2: no label before the tab' label.txt
k=0
for bad in 80 c3 'c0\xaf' 'e2\x82' 'e0\x80\xaf' 'ed\xa0\x80' 'f0\x80\x80\xaf' 'f4\x90\x80\x80' ff; do
    printf "a\\tone\\nb\\t\\xc3\\xa9\\x$bad\\n" >utf8_$((++k)).txt
    refuses "utf8_$k.txt, line 2: byte 5 is not UTF-8" utf8_$k.txt
done
printf 'a\tone\na\ttwo\n' >class.txt
refuses 'class.txt: every line has the label "a"' class.txt
printf 'a\tone\nb\ttwo\n' >test.txt
refuses 'test.txt: none of its 2 lines falls into the test part' test.txt
for ((n = 1; n <= 100; ++n)); do printf 'c%d\t...\n' $n; done >wordless.txt
refuses 'wordless.txt: its training part has no words' wordless.txt
mkdir -p wordnet
for part in noun verb adj adv; do echo '  1 the licence' >wordnet/data.$part; done
refuses 'wordnet is empty' --wordnet wordnet
for line in '1740 03 n 01 entity' '1740 45 n 01 entity | x' 'x 03 n | x' '1740 x | x' '1740 03| x' '-4 3 | x' '' '|'; do
    printf '  1 the licence\n%s\n' "$line" >wordnet/data.noun
    refuses 'wordnet/data.noun, line 2: not a line of WordNet' --wordnet wordnet
done

# A file of one's own: a byte order mark, line ends of DOS, no newline at the end, letters beyond ASCII, no words.
{
    printf '\xef\xbb\xbf'
    for ((n = 1; n <= 400; ++n)); do
        printf 'süß\tZucker “Honig”—Kuchen %d\r\nsalty\tfish, chips; SALT!\nnone\t\n' $((n % 7))
    done
    printf 'salty\tfish'
} >own.txt
"$program" own.txt --epochs 20 --dim 5 --threads 2 --classify 'honig KUCHEN' --classify 'salt' --classify '' \
    --classify 'unheard of' >out.txt </dev/null
must "own.txt: counts" grep -qx '1081 training and 120 test sentences, 14 ids, .* 3 classes' out.txt
must "own.txt: accuracy" grep -q '^epoch 20: test accuracy 1.0000' out.txt
must "own.txt: süß" grep -qx '  süß 0.*  [a-z]* 0.*  [a-z]* 0.*' <(grep -A 1 -x 'honig KUCHEN' out.txt)
must "own.txt: salty" grep -q '^  salty 0' <(grep -A 1 -x 'salt' out.txt)
must "own.txt: no bar and no colours where there is no terminal" eval "! grep -q \$'[\r\033]' out.txt"
must "own.txt: unknown words" test "$(grep -c 'no word of this is known' out.txt)" = 2

# The recurrent model on the same file: saved, loaded by a second process, which gives the same, and drawn. Sentences without words are
# states that never changed.
"$gru" own.txt --epochs 10 --dim 8 --threads 1 --save own.rowan --dot own.dot --classify 'honig KUCHEN' >gru_1.txt </dev/null
must "gru: accuracy" grep -q '^epoch 10: test accuracy 1.0000' gru_1.txt
must "gru: süß" grep -qx '  süß 0.*' <(grep -A 1 -x 'honig KUCHEN' gru_1.txt)
"$gru" own.txt --model gru --epochs 10 --dim 8 --threads 2 --classify 'honig KUCHEN' >gru_2.txt </dev/null
must "gru: --threads 1 and 2 differ" diff <(grep -v tokens/s gru_1.txt) <(grep -v tokens/s gru_2.txt)
"$gru" own.txt --model gru --dim 8 --load own.rowan --classify 'honig KUCHEN' >gru_3.txt </dev/null
must "gru: a model that was loaded" grep -qxF "loaded: test accuracy 1.0000, $(sed -n 's/^epoch 10: .*\(checksum .*\)/\1/p' gru_1.txt)" gru_3.txt
must "gru: answers of a model that was loaded" diff <(tail -n 2 gru_1.txt) <(tail -n 2 gru_3.txt)
must "gru: a net for Graphviz" grep -q 'label="rnn"' own.dot
for ((n = 1; n <= 60; ++n)); do printf 'a\tone %d\nb\ttwo\n' $n; done >two.txt
program=$gru refuses 'own.rowan: fc_0.b_0.shape() is [3], expected [2]' two.txt --model gru --dim 8 --load own.rowan
program=$gru refuses 'open no.rowan: No such file' own.txt --model gru --load no.rowan
refuses '--save is for --model gru' own.txt --save own.rowan
program=$gru refuses '--model' own.txt --model mean

# Definitions from standard input, which ends; one that is not UTF-8.
printf 'honig\nsalt fish\n' | "$program" own.txt --dim 5 >out.txt
must "stdin: two answers and no prompt" test "$(grep -c '^  s.* 0\.' out.txt) $(grep -c '^>' out.txt)" = "2 0"
status=0
printf 'honig\n\xff\n' | "$program" own.txt --dim 5 >out.txt 2>err.txt || status=$?
must "stdin: not UTF-8" test "$status $(cat err.txt)" = "2 gloss_classifier: stdin, line 2: byte 1 is not UTF-8"
if [[ -w /dev/full ]]; then
    must "a full disk" eval '! "$program" own.txt --classify salt >/dev/full 2>&1'
else
    skip "a full disk" "/dev/full cannot be written"
fi

# On a terminal: a bar and a prompt. script(1) makes one.
if script -qec true /dev/null >/dev/null 2>&1; then
    printf 'honig\n' | script -qec "'$program' own.txt --dim 5" /dev/null >out.txt
    must "terminal: a progress bar" grep -q $'\repoch 1 \[.*tokens/s' out.txt
    must "terminal: a prompt" grep -q '^> ' out.txt
else
    skip "terminal" "script(1) makes no terminal here"
fi

# The main job: WordNet.
if [[ -r /usr/share/wordnet/data.noun && $how == --short ]]; then
    first_2000
    for model in bag gru; do
        for threads in 1 2; do
            "$gru" --model $model --wordnet first --threads $threads --epochs 2 --dim 16 --classify 'a large wild cat with stripes' \
                >$model.$threads </dev/null
        done
        must "$model: --threads 1 and 2 differ" diff <(grep -v tokens/s $model.1) <(grep -v tokens/s $model.2)
        must "$model: counts" grep -qE '^[0-9]+ training and [0-9]+ test sentences' $model.1
    done
    cat bag.1 gru.1
elif [[ -r /usr/share/wordnet/data.noun ]]; then
    at_least() { awk -v got="$1" -v want="$2" 'BEGIN { exit !(got >= want) }'; }
    learns() { # SEED THREADS
        local log=wordnet_$1_$2.txt epoch
        "$program" --seed "$1" --threads "$2" --classify 'a large wild cat with stripes' >"$log" </dev/null
        must "seed $1: counts" grep -qF \
            '105986 training and 11673 test sentences, 53080 ids, 1335542 training tokens, 145354 test tokens' "$log"
        local floors=(0 0.685 0.718)
        for epoch in 1 2; do
            local accuracy=$(sed -n "s/^epoch $epoch: test accuracy \([0-9.]*\).*/\1/p" "$log")
            echo "seed $1, threads $2, epoch $epoch: test accuracy $accuracy"
            must "seed $1: accuracy $accuracy after epoch $epoch" at_least "$accuracy" "${floors[epoch]}"
        done
        must "seed $1: no bar and no colours where there is no terminal" eval "! grep -q \$'[\r\033]' '$log'"
        must "seed $1: a tiger" grep -q '^  noun.animal 0.9' "$log"
        must "seed $1: neighbours" grep -q '^  genus: ' "$log"
        grep -v tokens/s "$log" >"$log.same"
    }
    learns_gru() { # THREADS
        local log=wordnet_gru_$1.txt epoch
        "$gru" --threads "$1" --save gru_$1.rowan --classify 'a large wild cat with stripes' >"$log" </dev/null
        local floors=(0 0.765 0.787)
        for epoch in 1 2; do
            local accuracy=$(sed -n "s/^epoch $epoch: test accuracy \([0-9.]*\).*/\1/p" "$log")
            echo "gru, threads $1, epoch $epoch: test accuracy $accuracy"
            must "gru: accuracy $accuracy after epoch $epoch" at_least "$accuracy" "${floors[epoch]}"
        done
        grep -v tokens/s "$log" >"$log.same"
    }
    SECONDS=0
    learns 1 1
    took=$SECONDS
    if ((took < 10)); then
        for seed in 2 3; do learns $seed 1; done
        must "seeds 1 and 2 give the same" test "$(head -3 wordnet_1_1.txt.same)" != "$(head -3 wordnet_2_1.txt.same)"
        learns 1 2
        must "--threads 1 and 2 differ" diff wordnet_1_1.txt.same wordnet_1_2.txt.same
        for threads in 1 2; do # batches large enough that each call uses both threads
            "$program" --epochs 1 --dim 512 --threads $threads --classify x | grep -v tokens/s >wide_$threads.txt
        done
        must "--dim 512: --threads 1 and 2 differ" diff wide_1.txt wide_2.txt
        if ((took < 4)); then
            learns_gru 1
            learns_gru 2
            must "gru: --threads 1 and 2 differ" diff wordnet_gru_1.txt.same wordnet_gru_2.txt.same
            must "gru: models of --threads 1 and 2 differ" cmp gru_1.rowan gru_2.rowan
        else
            skip "the recurrent model on WordNet" "this build is too slow"
        fi
    else
        skip "other seeds, and a second epoch on two threads" "this build is too slow"
        "$program" --epochs 1 --threads 2 --classify x | grep -v tokens/s >wordnet_1_2.txt.same
        must "--threads 1 and 2 differ" diff <(head -2 wordnet_1_1.txt.same) <(head -2 wordnet_1_2.txt.same)
    fi
    if ldd "$gru" 2>/dev/null | grep -q 'san\.so' || grep -qF __sanitizer "$gru"; then
        skip "peak memory" "sanitizers need memory of their own"
    elif ! /usr/bin/time -f %M true 2>/dev/null; then
        skip "peak memory" "/usr/bin/time is not installed (time)"
    else
        peak=$(/usr/bin/time -f %M "$program" --epochs 1 --classify x 2>&1 >/dev/null | tail -1)
        echo "peak memory $((peak / 1000)) MB"
        must "peak memory $peak kB, 150 MB allowed" test "$peak" -lt 146484
        if ((took < 4)); then
            peak=$(/usr/bin/time -f %M "$gru" --epochs 1 --classify x 2>&1 >/dev/null | tail -1)
            echo "gru: peak memory $((peak / 1000)) MB"
            must "gru: peak memory $peak kB, 250 MB allowed" test "$peak" -lt 244140
        fi
    fi
else
    skip "WordNet" "it is not installed (wordnet-base)"
fi

if ((failed == 0)); then echo "all good"; fi
exit $failed
