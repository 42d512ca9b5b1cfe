#!/usr/bin/env bash
# tests/gloss_classifier.sh [--short] PROGRAM [FOLDER]: tests errors, training and saving of the gloss classifier on
# 2,000 sentences of WordNet and, without --short, on all. Writes to FOLDER or a temporary folder. A line that begins
# with SKIPPED names each part that this machine cannot run.
# tests/gloss_classifier.sh --same PROGRAM PROGRAM: both programs must print the same on the 2,000 sentences.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
how=
if [[ $1 == --* ]]; then
    how=$1
    shift
fi
program=$(realpath "$1")
if [[ $how == --same ]]; then
    other=$(realpath "$2")
    set -- "$1"
fi
folder=${2:-$(mktemp -d)}
if (($# < 2)); then trap 'rm -rf "$folder"' EXIT; fi
mkdir -p "$folder"
cd "$folder"

refuses '--epochs: "-1" is not a whole number from 0 to 1000' --epochs -1
refuses '--word-ngrams: "0" is not a whole number from 1 to 100' --model bag --word-ngrams 0
refuses '--buckets: "0" is not a whole number from 1 to 100000000' --model bag --word-ngrams 2 --buckets 0
refuses '--minn 4 is more than --maxn 3' --model bag --minn 4 --maxn 3
refuses '--maxn is for --model bag' --maxn 3
printf 'a\tone\nb\ttwo\nc three\n' >tab.txt
refuses 'tab.txt, line 3: no tab between label and text' tab.txt

if [[ ! -r /usr/share/wordnet/data.noun ]]; then
    echo "SKIPPED example, gloss_classifier, WordNet: it is not installed (wordnet-base)"
    exit $failed
fi

# learns LOG PROGRAM ARGUMENT...: writes the program's output, without the times, to LOG.
learns() {
    "${@:2}" --classify 'a large wild cat with stripes' </dev/null | grep -v tokens/s >"$1"
}

# The first 500 sentences of each part of WordNet: the same bits for every number of threads and in every build.
mkdir -p first
for part in noun verb adj adv; do awk '/^  / || ++n <= 500' "/usr/share/wordnet/data.$part" >"first/data.$part"; done
first=(--wordnet first --epochs 2 --dim 16)
for model in bag gru attention; do
    learns $model.1 "$program" --model $model "${first[@]}" --threads 1
    learns $model.2 "${other:-$program}" --model $model "${first[@]}" --threads 2
    must "$model: two threads, or another program, print something else" diff $model.1 $model.2
done
cat bag.1 gru.1 attention.1
must "counts" grep -qF '1807 training and 193 test sentences, 5945 ids, 25356 training tokens, 2641 test tokens, 45 classes' bag.1
must "bag: the numbers" grep -qx 'epoch 2: test accuracy 0.3005, training loss 2.2737, checksum d1ac0acba4c42838' bag.1
must "gru: the numbers" grep -qx 'epoch 2: test accuracy 0.2694, training loss 1.9777, checksum fed3612ebca574c1' gru.1
must "attention: the numbers" grep -qx 'epoch 2: test accuracy 0.3109, training loss 1.9597, checksum 73b60e0cd36717e5' attention.1

# Runs of words and n-grams of characters, also of a word that the text does not have.
ngrams=(--model bag "${first[@]}" --word-ngrams 2 --minn 3 --maxn 5 --buckets 50000 --classify tigerlike)
learns ngrams.1 "$program" "${ngrams[@]}" --threads 1
for threads in 2 3 5; do
    learns ngrams.n "${other:-$program}" "${ngrams[@]}" --threads $threads
    must "n-grams: $threads threads, or another program, print something else" diff ngrams.1 ngrams.n
done
cat ngrams.1
must "n-grams: the numbers" grep -qx 'epoch 2: test accuracy 0.3420, training loss 2.1838, checksum 08a134d94673c917' ngrams.1
must "n-grams: a word by its characters" grep -qx '  adj.all 0.125  adv.all 0.115  verb.body 0.105' ngrams.1
if [[ $how == --same ]]; then exit $failed; fi

# Eight batches make a step. mpi/gloss_classifier.sh runs the same on several ranks.
learns parts.txt "$program" "${first[@]}" --parts 8
learns shard.txt "$program" "${first[@]}" --parts 8 --shard
must "--shard prints something else" diff parts.txt shard.txt
must "--parts: the numbers" grep -qx 'epoch 2: test accuracy 0.1969, training loss 3.6448, checksum 34ff3456d08d3464' parts.txt

# A second process loads the saved model and prints the same.
learns saved.txt "$program" "${first[@]}" --save first.rowan --dot first.dot
learns loaded.txt "$program" "${first[@]}" --load first.rowan
must "a model that was loaded" grep -qx 'loaded: test accuracy 0.2694, .*checksum fed3612ebca574c1' loaded.txt
must "answers of a model that was loaded" diff <(tail -n 2 saved.txt) <(tail -n 2 loaded.txt)
must "a net for Graphviz" grep -q 'label="rnn"' first.dot

# The main job: all of WordNet.
if [[ $how != --short ]]; then
    at_least() { awk -v got="$1" -v want="$2" 'BEGIN { exit !(got >= want) }'; }
    for model in bag gru; do
        case $model in
            bag) floors=(0 0.685 0.718) most=150000 ;;
            gru) floors=(0 0.765 0.787) most=250000 ;;
        esac
        learns all_$model.1 /usr/bin/time -o peak.$model -f %M "$program" --model $model --threads 1
        learns all_$model.2 "$program" --model $model --threads 2
        must "$model: --threads 1 and 2 differ" diff all_$model.1 all_$model.2
        for epoch in 1 2; do
            accuracy=$(sed -n "s/^epoch $epoch: test accuracy \([0-9.]*\).*/\1/p" all_$model.1)
            echo "$model, epoch $epoch: test accuracy $accuracy"
            must "$model: accuracy $accuracy after epoch $epoch" at_least "$accuracy" "${floors[epoch]}"
        done
        echo "$model: peak memory $(tail -1 peak.$model) kB, $most allowed"
        must "$model: peak memory" test "$(tail -1 peak.$model)" -lt $most
    done
fi

if ((failed == 0)); then echo "all good"; fi
exit $failed
