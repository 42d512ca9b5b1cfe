#!/usr/bin/env bash
# tests/umbrella.sh: rowan/<room>.hpp must include every header of its room and none that is not there, and rowan/rowan.hpp every room. Of io
# it includes the headers one by one, but none that reaches nanopb; and not thrust, whose umbrella leaves out what is for CUDA alone. Every
# header comes to what asks the compiler for C++20 before it says anything itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../include"

failed=0
wants() { # UMBRELLA HEADER
    if ! grep -qxF "#include <$2>" "$1"; then
        echo "$1 does not include <$2>"
        failed=1
    fi
}

for umbrella in rowan/*.hpp; do
    while read -r header; do
        if [[ ! -f $header ]]; then
            echo "$umbrella includes <$header>, which is not there"
            failed=1
        fi
    done < <(sed -nE 's/^#include <(rowan\/.+)>$/\1/p' "$umbrella")
done

# reached HEADER: all of our headers that it includes, directly or not.
reached() {
    local seen=" $1 " queue=("$1") header
    while ((${#queue[@]})); do
        while read -r header; do
            if [[ $seen == *" $header "* ]]; then continue; fi
            seen+="$header "
            queue+=("$header")
        done < <(sed -nE 's/^#include <(rowan\/.+)>$/\1/p' "${queue[0]}")
        queue=("${queue[@]:1}")
    done
    echo "$seen"
}

# A model's file has descriptors.
needs_nanopb() { [[ $(reached "$1") =~ rowan/(detail/nanopb|io/model)\.hpp ]]; }

for folder in rowan/*/; do
    room=$(basename "$folder")
    if [[ $room == detail || $room == compiled ]]; then continue; fi
    if [[ $room != io && $room != thrust ]]; then wants rowan/rowan.hpp "rowan/$room.hpp"; fi
    for header in "$folder"*.hpp; do
        if [[ $header =~ /thrust/cu(da|blas)\.hpp$ || $header == *_inl.hpp ]]; then continue; fi
        wants "rowan/$room.hpp" "$header"
        if [[ $room == io ]] && ! needs_nanopb "$header"; then wants rowan/rowan.hpp "$header"; fi
    done
done
while read -r header; do
    case $header in rowan/detail/config.hpp | rowan/version.hpp) continue ;; esac
    if [[ $(grep -m1 '^#include ' "$header") != '#include <rowan/'* ]]; then
        echo "$header does not begin with a header of ours, <rowan/detail/config.hpp> if no other"
        failed=1
    fi
done < <(find rowan -name '*.hpp')
if needs_nanopb rowan/rowan.hpp; then
    echo "rowan/rowan.hpp reaches nanopb"
    failed=1
fi
if [[ $(reached rowan/rowan.hpp) =~ rowan/thrust ]]; then
    echo "rowan/rowan.hpp reaches Thrust"
    failed=1
fi
exit $failed
