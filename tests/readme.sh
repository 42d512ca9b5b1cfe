#!/usr/bin/env bash
# tests/readme.sh: the README's first program is examples/01_sparse_sgd.cpp without its opening comment, and the block after it what
# that prints. The numbered examples are as short as they promise, each with a picture.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

diff <(sed -n '/^#include/,$p' examples/01_sparse_sgd.cpp) \
    <(awk '/^```/ { if (inside) exit; inside = /^```cpp/; next } inside' README.md)
diff examples/01_sparse_sgd.out <(awk '/^```/ { ++fences; next } fences == 2 && /^    / { print substr($0, 5); seen = 1; next } seen { exit }' README.md)

# An example can be read at a glance: at most 60 lines, with a picture of the data before the first of code.
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
