#!/usr/bin/env bash
# tests/mpi/gloss_classifier.sh PROGRAM MPIRUN...: the gloss classifier prints the same on 1, 2 and 4 ranks, with the table whole and in shards, also
# when it loads what other ranks have saved.
set -euo pipefail
program=$1
shift
if [[ ! -r /usr/share/wordnet/data.noun ]]; then
    echo "SKIPPED mpi: gloss_classifier: WordNet is not installed (wordnet-base)"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for part in noun verb adj adv; do awk '/^  / || ++n <= 200' "/usr/share/wordnet/data.$part" >"data.$part"; done

# learns LOG RANKS ARGUMENT...: writes what the program prints, without the times and the bar, to LOG.
learns() {
    timeout 120 "${mpirun[@]}" "$2" "$program" --wordnet . --epochs 2 --dim 8 --threads 1 --classify 'a large wild cat' "${@:3}" </dev/null |
        tr -d '\r' | sed 's/.*\x1b\[K//' | grep -v tokens/s >"$1"
}
mpirun=("$@")
learns 1 1 --parts 8
cat 1
grep -q '^epoch 2: .*checksum' 1
for ranks in 2 4; do
    learns whole $ranks --parts 8
    diff 1 whole
    learns shards $ranks --parts 8 --shard --save model.rowan
    diff 1 shards
done
learns loaded 3 --shard --load model.rowan
diff <(tail -n 2 1) <(tail -n 2 loaded)
