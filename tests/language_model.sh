#!/usr/bin/env bash
# tests/language_model.sh PROGRAM: tests errors, training, files and what the language model writes on a small text.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Lines that the first word determines, but for their length: a model with a memory can say the rest.
awk 'BEGIN {
    for (line = 0; line < 300; ++line) {
        text = line % 2 ? "one two three four five" : "red green blue red green blue"
        print text
    }
}' >text.txt
learns() { "$program" text.txt --dim 12 --samples 6 --streams 4 --steps 8 --epochs 4 --rate 0.02 "${@:2}" | grep -v words/s >"$1"; }
for cell in gru lstm; do
    learns $cell.1 --cell $cell --threads 1 --save $cell.rowan --generate 8 --prompt one --temperature 0
    learns $cell.2 --cell $cell --threads 2 --generate 8 --prompt one --temperature 0
    must "$cell: two threads print something else" diff $cell.1 $cell.2
    must "$cell writes: $(tail -n 3 $cell.1)" test "$(tail -n 2 $cell.1 | head -n 1)" = "one two three four five "
    perplexity=$(grep -oE 'epoch 4: perplexity [0-9.]+' $cell.1 | grep -oE '[0-9.]+$')
    must "$cell: the last perplexity is $perplexity" awk "BEGIN { exit !($perplexity < 1.6) }"
    "$program" text.txt --cell $cell --dim 12 --samples 6 --streams 4 --load $cell.rowan --generate 8 --prompt one --temperature 0 >loaded.txt
    must "$cell: a loaded model writes something else" diff <(tail -n 2 $cell.1) <(tail -n 2 loaded.txt)
    must "$cell: a loaded model has another checksum" test "$(grep -o 'checksum .*' loaded.txt)" = "$(grep 'epoch 4' $cell.1 | grep -o 'checksum .*')"
done
must "the first line is: $(head -n 1 gru.1)" test "$(head -n 1 gru.1)" = "1761 words to learn from, 189 to test, 10 different ones"

refuses '--cell: rnn not in {gru,lstm}' text.txt --cell rnn
refuses 'none.txt cannot be read: No such file or directory' none.txt
echo word >one_word.txt
refuses 'one_word.txt: no word occurs at least 3 times; two are needed' one_word.txt
refuses '--prompt: "seven" is not a word of the text' text.txt --epochs 0 --generate 1 --prompt seven
head -c 500 gru.rowan >cut.rowan
refuses 'cut.rowan' text.txt --dim 12 --load cut.rowan
refuses 'gru.rowan: ' text.txt --dim 13 --load gru.rowan
exit $failed
