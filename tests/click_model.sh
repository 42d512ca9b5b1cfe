#!/usr/bin/env bash
# tests/click_model.sh PROGRAM CLICK_LOG: tests the click model on small logs: errors, threads, parts, files, saving, serving.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
program=$(realpath "$1") click_log=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# The logs: the same for any number of threads, and compressed.
"$click_log" log --days 3 --examples 3000 --drift 0.1 | tee best.txt
"$click_log" same --days 3 --examples 3000 --drift 0.1 --threads 1 --gzip >/dev/null
for day in 0 1 2; do must "a compressed log differs" cmp log/day_$day.tsv <(gzip -dc same/day_$day.gz); done
must "40 fields" test "$(awk -F '\t' 'NF != 40' log/day_0.tsv | wc -l)" = 0

# What is wrong in a log is named.
refuses 'nothing to learn from'
refuses 'nowhere.tsv cannot be read' nowhere.tsv
refuses 'log cannot be read: Is a directory' log
sed '1700s/^[01]\t/2\t/' log/day_0.tsv >label.tsv
refuses 'label.tsv, line 1700: field 1: "2" is not a label, 0 or 1' label.tsv --dim 2
sed '3s/\t[^\t]*$/\txyz/' log/day_0.tsv >category.tsv
refuses 'category.tsv, line 3: field 40: "xyz" is not a hexadecimal number of at most 8 digits' category.tsv
sed '3s/\t[^\t]*$/\t123456789/' log/day_0.tsv >category.tsv
refuses 'field 40: "123456789" is not a hexadecimal number of at most 8 digits' category.tsv
sed 's/\t[^\t]*/\t1.5/1' log/day_0.tsv >number.tsv
refuses 'number.tsv, line 1: field 2: "1.5" is not a whole number' number.tsv
cut -f 1-39 log/day_0.tsv >fields.tsv
refuses 'fields.tsv, line 1: 39 fields, expected 40' fields.tsv
sed '3s/\t[^\t]*/\t99999999999999999999/' log/day_0.tsv >number.tsv
refuses 'number.tsv, line 3: field 2: "99999999999999999999" is not a whole number of 64 bits' number.tsv
head -c 100000 same/day_0.gz >cut.gz
refuses 'cut.gz cannot be read: the end of the compressed file is missing' cut.gz --dim 2
cat same/day_0.gz <(echo more) >more.gz
refuses 'more.gz cannot be read: the compressed file has something else behind the compressed data' more.gz --dim 2
: >empty.tsv
refuses 'empty.tsv has no lines' empty.tsv
refuses 'nowhere.tsv cannot be read: No such file' log/day_0.tsv nowhere.tsv
refuses '--save nowhere/m is no file in a folder that exists' log/day_0.tsv --save nowhere/m
refuses '"nan" is not a number from 0 to 100' log/day_0.tsv --rate nan
refuses 'the standard input can be read only once' - --serve
refuses 'model.rowan' --load model.rowan

# learns LOG ARGUMENT...: writes what the program prints, without times, to LOG.
small=(--dim 4 --bottom 8 --top 8 --batch 256 --sightings 2)
learns() { "$program" "${small[@]}" "${@:2}" | grep -v 'examples/s' | sed 's/\.gz/.tsv/' >"$1"; }
learns 1 log/day_{0,1,2}.tsv --threads 1 --group 9
cat 1
must "tested before training, twice" test "$(grep -c 'before training: AUC 0' 1)" = 2
learns 2 same/day_{0,1,2}.gz --threads 2 --group 9
must "two threads, or compressed logs, give something else" diff 1 2
must "it learns: AUC above 0.64" awk '/day_2.tsv, before/ { good = substr($5, 1, 6) > 0.64 } END { exit !good }' 1
cat same/day_0.gz same/day_1.gz >both.gz
learns both both.gz
learns plain <(cat log/day_{0,1}.tsv)
must "compressed files one after the other, or a pipe, give something else" diff <(tail -n 1 both) <(tail -n 1 plain)
learns padded <(cat same/day_0.gz <(head -c 100000 /dev/zero) same/day_1.gz <(head -c 512 /dev/zero))
must "zeros behind a compressed file give something else" diff padded plain
size=$(wc -c <same/day_0.gz)
(cat same/day_0.gz <(head -c 512 /dev/zero) && echo x) >behind.gz
refuses "behind.gz cannot be read: the compressed file has something else behind the compressed data, at byte $((size + 512))" behind.gz
(cat same/day_0.gz && echo x) >behind.gz
refuses "behind.gz cannot be read: the compressed file has something else behind the compressed data, at byte $size" behind.gz
(cat same/day_0.gz <(head -c 512 /dev/zero) && head -c 99 same/day_1.gz) >behind.gz
refuses 'behind.gz cannot be read: the end of the compressed file is missing' behind.gz
(head -c $((size - 1)) same/day_0.gz && echo -n x) >damaged.gz # its last byte is 0, of the size
refuses "damaged.gz cannot be read: the compressed file is damaged, at byte $size" damaged.gz
learns pipes <(cat log/day_0.tsv) <(gzip -dc same/day_1.gz)
must "a pipe is trained on" test "$(grep -c 'while training' pipes)" = 2
must "a pipe is read once" test "$(grep -c 'before training' pipes)" = 0

# Keys that were not seen today lose their rows.
learns forget log/day_{0,1,2}.tsv --forget 1
must "keys are forgotten: $(grep keys forget)" awk '$2 == "keys," { n = $1 } END { exit !(n < 13000) }' forget

# Parts of a batch, the same for a table that ranks may share out; mpi/click_model.sh runs it on several ranks.
learns parts log/day_{0,1}.tsv --parts 3
learns shard log/day_{0,1}.tsv --parts 3 --shard
must "--shard gives something else" diff parts shard
must "--parts changes the bits alone" diff <(grep -v checksum parts) <(grep -v checksum 1 | sed '/day_2/d; s/, AUC within[^,]*0\.[0-9]*//')

# A model that was saved goes on as if it had not been, and answers.
for shard in '' --shard; do
    learns first log/day_0.tsv $shard --save model.rowan
    learns rest log/day_1.tsv $shard --load model.rowan --save model.rowan
    learns whole log/day_{0,1}.tsv
    must "saved and loaded, $shard" diff whole <(cat first rest)
    learns tested log/day_2.tsv $shard --load model.rowan --test
    must "--test, $shard" diff tested <(grep day_2 1 | grep before | sed 's/, AUC within[^,]* 0\.[0-9]*//')
    "$program" --load model.rowan $shard --serve <log/day_2.tsv >answers 2>times
    must "answers without labels, $shard" cmp answers <(cut -f 2- log/day_2.tsv | "$program" --load model.rowan $shard --serve 2>/dev/null)
    must "an answer for each line" test "$(grep -cx '[0-9.e-]*' answers)" = 3000
    must "times: $(cat times)" grep -qx '3000 answers; p50 [0-9]* us, p99 [0-9]* us' times
    must "the mean of the answers: $(awk '{ s += $1 } END { print s / NR }' answers)" awk '{ s += $1 } END { exit !(s / NR > 0.1 && s / NR < 0.4) }' answers
    must "files beside the model, $shard: $(echo model.rowan*)" test "$(ls -d model.rowan* | wc -l)" = $(($([[ -z $shard ]] && echo 1 || echo 3)))
    cut -f 2- log/day_0.tsv | head -n 2 | cat - <(head -n 1 log/day_0.tsv) | "$program" --load model.rowan $shard --serve >/dev/null 2>err.txt && failed=1
    must "a line with a label after those without: $(tail -n 1 err.txt)" grep -qF 'stdin, line 3: 40 fields, expected 39' err.txt
    refuses 'model.rowan: the model was saved with' --load model.rowan $([[ -n $shard ]] || echo --shard)
    rm -r model.rowan*
done
learns stdin - <log/day_0.tsv
learns file log/day_0.tsv
must "the standard input differs from a file" diff <(sed 's/^stdin/day_0.tsv/' stdin) file

if ((failed == 0)); then echo "all good"; fi
exit $failed
