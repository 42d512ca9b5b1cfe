#!/usr/bin/env bash
# tests/compile_time.sh REPORT --compiled=DEFINITIONS COMPILER [FLAG...]: the compile time of headers and examples,
# divided by that of xtensor's xarray.hpp: user and system time. xarray.hpp is compiled before and after each of them, so
# that both meet the same load of a shared machine; the smallest ratio of the rounds counts. DEFINITIONS are those of
# rowan::compiled; without any, that way is skipped. A ratio above the target is reported; one above the ceiling, 1.3
# times what was reached, is measured again and fails after 3 rounds.
set -euo pipefail
report=$1
definitions=${2#--compiled=}
shift 2
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/../examples" && pwd)
export CCACHE_DISABLE=1 TIMEFORMAT='%U %S'

xarray=xtensor/xarray.hpp
if ! "$@" -E -x c++ - <<<"#include <$xarray>" >/dev/null 2>&1; then xarray=xtensor/containers/xarray.hpp; fi  # from xtensor 0.26 on

# what, header-only or compiled, optimisation, target, ceiling
rows=("rowan/sparse/selected_rows.hpp header-only -O0 1.4 1.8" "rowan/rowan.hpp header-only -O0 4 7.8"
    "01_sparse_sgd header-only -O0 3 3.9" "01_sparse_sgd header-only -O2 4 5.2"
    "07_plain_network header-only -O0 8 15.7" "07_plain_network header-only -O2 12 28")
if [[ -n $definitions ]]; then
    rows+=("rowan/rowan.hpp compiled -O0 2.8 4" "07_plain_network compiled -O0 4.5 5.2" "07_plain_network compiled -O2 6 6.9")
fi

source_of() {
    case $1 in
        *.hpp) echo "#include <$1>" ;;
        *) cat "$examples/$1.cpp" ;;
    esac
}

# The user and system seconds of one compilation, in two words.
seconds() { # SOURCE COMPILER [FLAG...]
    source_of "$1" >"$report.cpp"
    took=$({ time "${@:2}" -c -o /dev/null "$report.cpp" || echo "failed"; } 2>&1)
    if [[ $took == *[a-z]* ]]; then # the compiler says something
        echo "$1: $took" >&2
        exit 1
    fi
}

round() { # COMPILER [FLAG...]
    seconds "$xarray" "$@"
    for row in "${rows[@]}"; do
        read -r what way optimisation target ceiling <<<"$row"
        flags=("$optimisation")
        if [[ $way == compiled ]]; then flags+=($definitions); fi
        before=$took
        seconds "$what" "$@" "${flags[@]}"
        row+=" $took"
        seconds "$xarray" "$@"
        echo "$row $before $took"
    done
}

summary() {
    awk '
    {
        key = $1 " " $2 " " $3
        if (!(key in least)) order[++rows] = key
        ratio = 2 * ($6 + $7) / ($8 + $9 + $10 + $11)
        if (!(key in least) || ratio < least[key]) { least[key] = ratio; took[key] = $6 + $7 }
        target[key] = $4
        ceiling[key] = $5
    }
    END {
        printf "%-32s %-12s %-4s %8s %6s %6s\n", "", "", "", "seconds", "ratio", "target"
        for (i = 1; i <= rows; ++i) {
            split(order[i], part, " ")
            ratio = least[order[i]]
            bad = ratio > ceiling[order[i]]
            failed = failed || bad
            note = ratio <= target[order[i]] ? "" : bad ? "  FAILED: above " ceiling[order[i]] : "  above the target"
            printf "%-32s %-12s %-4s %8.2f %6.2f %6.1f%s\n", part[1], part[2], part[3], took[order[i]], ratio, target[order[i]], note
        }
        exit failed
    }' "$report.times"
}

: >"$report.times"
for attempt in 1 2 3; do
    round "$@" >>"$report.times"
    if summary >"$report"; then break; fi
done
summary
