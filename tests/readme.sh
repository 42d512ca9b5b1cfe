#!/usr/bin/env bash
# tests/readme.sh: the README's program and output are those of example 20, it is short, and links of all pages lead to files that exist.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

diff <(sed -n '/^#include/,$p' examples/20_reviews.cpp) <(awk '/^```/ { if (inside) exit; inside = 1; next } inside' README.md)
diff examples/20_reviews.out <(awk '/^```$/ { closed = 1 } closed && /^    / { print substr($0, 5); seen = 1; next } seen { exit }' README.md)
lines=$(wc -l <README.md)
if ((lines > 160)); then
    echo "README.md has $lines lines, more than 160"
    exit 1
fi

status=0
for page in README.md CHANGELOG.md $(find include examples tests -name '*.md'); do
    while read -r link; do
        if [[ ! -e $(dirname "$page")/$link ]]; then
            echo "$page leads to $link, which is not there"
            status=1
        fi
    done < <(awk '/^```/ { code = !code; next } !code { gsub(/`[^`]*`/, ""); print }' "$page" | grep -oP '\]\(\K[^)#]+(?=[)#])' | grep -v ':')
done
((status == 0))

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
