#!/usr/bin/env bash
# tests/headers.sh ROOM COMPILER [ARGUMENT...]: compiles every header of a room of include/rowan alone; the room `.`
# means the headers outside of rooms. The check `cuda` compiles the headers that need nvcc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../include"
bad=0
while read -r header; do
    if ! "${@:2}" -x c++ - <<<"#include <$header>"; then
        echo "<$header> does not compile alone"
        bad=1
    fi
done < <(if [[ $1 == . ]]; then ls rowan/*.hpp; else find "rowan/$1" -name '*.hpp' ! -path '*/thrust/cu*.hpp' | sort; fi)
exit $bad
