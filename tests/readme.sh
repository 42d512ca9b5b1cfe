#!/usr/bin/env bash
# tests/readme.sh: the README's first program is examples/01_sparse_sgd.cpp without its opening comment, and the block after it what
# that prints.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

diff <(sed -n '/^#include/,$p' examples/01_sparse_sgd.cpp) \
    <(awk '/^```/ { if (inside) exit; inside = /^```cpp/; next } inside' README.md)
diff examples/01_sparse_sgd.out <(awk '/^```/ { ++fences; next } fences == 2 && /^    / { print substr($0, 5); seen = 1; next } seen { exit }' README.md)
