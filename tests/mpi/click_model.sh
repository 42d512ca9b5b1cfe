#!/usr/bin/env bash
# tests/mpi/click_model.sh PROGRAM MPIRUN... CLICK_LOG: the click model prints the same on 1, 2 and 4 ranks, with the table whole and in shards, also
# when it loads what other ranks have saved.
set -euo pipefail
program=$1 click_log=${*: -1}
mpirun=("${@:2:$#-2}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$click_log" . --days 3 --examples 1500 --drift 0.1 >/dev/null

# learns LOG RANKS ARGUMENT...: writes what the program prints, without the times and the bar, to LOG.
learns() {
    timeout 120 "${mpirun[@]}" "$2" "$program" --parts 8 --dim 4 --bottom 8 --top 8 --batch 250 --sightings 2 --threads 1 "${@:3}" </dev/null |
        tr -d '\r' | sed 's/.*\x1b\[K//' | grep -v examples/s >"$1"
}
learns 1 1 day_{0,1,2}.tsv
cat 1
grep -q checksum 1
for ranks in 2 4; do
    learns whole $ranks day_{0,1,2}.tsv
    diff 1 whole
    learns shards $ranks day_{0,1,2}.tsv --shard
    diff 1 shards
done
learns saved 2 day_{0,1}.tsv --shard --save model.rowan
learns loaded 3 day_2.tsv --shard --load model.rowan
diff <(tail -n 3 1) loaded
