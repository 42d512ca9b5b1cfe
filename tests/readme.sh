#!/usr/bin/env bash
# tests/readme.sh: the README's two programs equal examples 01 and 13, and the blocks after them equal their output.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program() { awk -v want="$1" '/^```/ { if (inside && number == want) exit; inside = /^```cpp/; number += inside; next } inside && number == want' README.md; }
output() { awk -v want="$1" '/^```cpp/ { ++number } number == want && /^    / && closed { print substr($0, 5); seen = 1; next } seen { exit } /^```$/ && number == want { closed = 1 }' README.md; }
diff <(sed -n '/^#include/,$p' examples/01_sparse_sgd.cpp) <(program 1)
diff examples/01_sparse_sgd.out <(output 1)
diff <(sed -n '/^\/\/ 1 = not/,$p' examples/13_text_classifier.cpp) <(program 2)
diff examples/13_text_classifier.out <(output 2)

# Numbered examples have at most 60 lines, and a picture of the data before the code.
for example in examples/[0-9][0-9]_*.cpp; do
    lines=$(wc -l <"$example")
    if ((lines > 60)); then
        echo "$example has $lines lines, more than 60"
        exit 1
    fi
    if ! sed -n '1,/^[^/]/p' "$example" | grep -q '^//     '; then
        echo "$example has no picture of its data at the top"
        exit 1
    fi
done
