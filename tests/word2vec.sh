#!/usr/bin/env bash
# tests/word2vec.sh PROGRAM [PYTHON]: tests errors, training, files and neighbours of word2vec on a small text of three
# topics. With a Python that has gensim, gensim reads the files, too.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
program=$(realpath "$1")
python=${2:+$(cd "$(dirname "$2")" && pwd)/$(basename "$2")} # as named: a virtual environment's is a link
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Sentences of one topic each, by a random number generator of 31 bits.
awk 'BEGIN {
    split("cat dog horse cow sheep", a); split("pot pan knife spoon bowl", b); split("red blue green yellow black", c)
    for (line = 0; line < 600; ++line) {
        topic = line % 3; text = "the"
        for (i = 0; i < 6; ++i) {
            x = (x * 1103515245 + 12345) % 2147483648; k = int(x / 65536) % 5 + 1
            text = text " " (topic == 0 ? a[k] : topic == 1 ? b[k] : c[k])
        }
        print text "."
    }
}' >text.txt

# learns NAME ARGUMENT...: the output without times.
learns() { "$program" text.txt --dim 10 --epochs 8 --batch 50 --rate 0.1 "${@:2}" | grep -v words/s >"$1"; }
for how in "" --cbow --hs "--cbow --hs"; do
    learns one.txt --threads 1 --hold-out 20 $how --nearest cat
    learns two.txt --threads 2 --hold-out 20 $how --nearest cat
    must "$how: two threads print something else" diff one.txt two.txt
    near=$(tail -n 1 one.txt | grep -oE '[a-z]+ [0-9.]+' | head -4 | cut -d ' ' -f 1 | sort | tr '\n' ' ')
    must "$how: near to cat are $near" test "$near" = "cow dog horse sheep "
done
must "the first lines are: $(head -n 1 two.txt)" test "$(head -n 1 two.txt)" = "570 lines, 3990 words of the text, 16 different ones"

# Files of both formats keep all bits; what was saved finds the same words.
learns saved.txt --threads 1 --save text.vec --nearest pan --analogy cat dog red
learns binary.txt --threads 1 --binary --save binary.vec --nearest pan --analogy cat dog red
must "a text file" test "$(head -n 1 text.vec)" = "16 10"
"$program" --load text.vec --nearest pan --analogy cat dog red >loaded.txt
"$program" --load binary.vec --binary --nearest pan --analogy cat dog red >loaded_binary.txt
must "the vectors of a text file differ" diff <(tail -n 2 saved.txt) loaded.txt
must "the vectors of a binary file differ" diff loaded.txt loaded_binary.txt
"$program" --load binary.vec --binary --save again.vec
must "a file written again differs" cmp binary.vec again.vec
# Lines that end as those of Windows, and numbers that floats do not hold.
sed 's/$/\r/' text.vec >crlf.vec
"$program" --load crlf.vec --save again.vec
must "lines that end with CR and LF differ" cmp text.vec again.vec
sed '3s/ [^ ]* [^ ]*$/ 0 -0/' text.vec >zeros.vec
sed '3s/ [^ ]* [^ ]*$/ 1e-50 -1e-400/' text.vec >small.vec
"$program" --load zeros.vec --save zeros_again.vec
"$program" --load small.vec --save again.vec
must "numbers below those of floats are not 0" cmp zeros_again.vec again.vec
for number in 1e50 -1e400 inf; do
    sed "3s/ [^ ]*\$/ $number/" text.vec >large.vec
    refuses 'large.vec, word 2 of 16: a number is not finite' --load large.vec
done
# Words that come again: the first counts.
first=$(sed -n 2p text.vec | cut -d ' ' -f 1) second=$(sed -n 3p text.vec | cut -d ' ' -f 1)
(echo 18 10 && tail -n +2 text.vec && echo "$second 1 2 3 4 5 6 7 8 9 10" && echo "$first 1 2 3 4 5 6 7 8 9 10") >twice.vec
"$program" --load twice.vec --save again.vec 2>err.txt
must "the first of two vectors does not count" cmp text.vec again.vec
must "the warning is $(cat err.txt)" test "$(cat err.txt)" = "twice.vec: 2 words come again, the first is $second; the first vector of each counts"
(echo 17 10 && tail -n +2 binary.vec && echo -n "$first " && head -c 40 /dev/zero && echo) >twice.vec
"$program" --load twice.vec --binary --save again.vec 2>err.txt
must "the first of two vectors of a binary file does not count" cmp binary.vec again.vec
must "a binary file has no warning" test "$(wc -l <err.txt)" = 1
if [[ -n $python ]]; then
    cat >read.py <<'END'
from gensim.models import KeyedVectors
text = KeyedVectors.load_word2vec_format("text.vec")
binary = KeyedVectors.load_word2vec_format("binary.vec", binary=True)
assert text.index_to_key == binary.index_to_key and (text.vectors == binary.vectors).all() and text.vectors.shape == (16, 10)
near = " ".join(f"{word} {near:.2f}" for word, near in text.most_similar("pan", topn=8))
open("near.txt", "w").write(near + "\n")
END
    : >near.txt
    must "gensim cannot read the files" "$python" read.py
    line=$(tail -n 2 saved.txt | head -n 1)
    must "gensim finds $(cat near.txt), not $line" grep -qF "$(cat near.txt)" <<<"$line"
fi

refuses '--dim: "0" is not a whole number from 1 to 4096' text.txt --dim 0
refuses 'give a text to learn from, or --load FILE'
refuses 'none.txt cannot be read: No such file or directory' none.txt
: >empty.txt
refuses 'empty.txt: no word occurs at least 5 times; two are needed' empty.txt
for _ in 1 2 3 4 5 6; do echo word word; done >one_word.txt
refuses 'one_word.txt: only one word, "word", occurs at least 5 times; two are needed' one_word.txt
printf 'one\n\xff\n' >bytes.txt
refuses 'bytes.txt, line 2: byte 1 is not UTF-8' bytes.txt
refuses '"lion" is not a word that the vectors have' --load text.vec --nearest lion
head -c 100 text.vec >cut.vec
refuses 'cut.vec: 94 bytes are too few for 16 words of 10 numbers' --load cut.vec
head -c -30 binary.vec >cut_binary.vec
refuses 'cut_binary.vec, word 16 of 16: the file ends within its numbers' --load cut_binary.vec --binary
sed '3s/ [^ ]*$/ nan/' text.vec >nan.vec
refuses 'nan.vec, word 2 of 16: a number is not finite' --load nan.vec
sed '3s/ [^ ]*$//' text.vec >short.vec
refuses 'short.vec, word 2 of 16: number 10 is missing' --load short.vec
(cat text.vec && echo more) >long.vec
refuses 'long.vec: 5 bytes behind the last word' --load long.vec
refuses 'not `words numbers-per-word`, as word2vec writes' --load text.txt
exit $failed
