#!/usr/bin/env bash
# tests/headers.sh ROOM COMPILER [ARGUMENT...]: every header of a room of include/rowan compiles alone, `.` those of no room. Those that only
# nvcc takes are the check cuda's affair.
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
