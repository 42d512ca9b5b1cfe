#!/usr/bin/env bash
# tests/compile_time.sh REPORT COMPILER [FLAG...]: what including rowan costs at -O0, against xtensor's xarray.hpp alone.
# A figure is user and system time, the best of three. Above the budget is reported; above it by half is a failure.
set -euo pipefail
report=$1
shift
export CCACHE_DISABLE=1 TIMEFORMAT='%U %S'

seconds() { # HEADER COMPILER [FLAG...]
    { time "${@:2}" -O0 -x c++ -c -o /dev/null - <<<"#include <$1>"; } 2>&1 | awk '{ printf "%.2f\n", $1 + $2 }'
}

xarray=xtensor/xarray.hpp
if ! "$@" -E -x c++ - <<<"#include <$xarray>" >/dev/null 2>&1; then xarray=xtensor/containers/xarray.hpp; fi  # from xtensor 0.26 on
headers=("$xarray" rowan/sparse/selected_rows.hpp rowan/rowan.hpp)
budgets=(1 2 5)
for header in "${headers[@]}"; do  # so that a header that does not compile is seen to do so
    "$@" -fsyntax-only -x c++ - <<<"#include <$header>"
done
for _ in 1 2 3; do
    for i in "${!headers[@]}"; do
        echo "$i ${budgets[i]} ${headers[i]} $(seconds "${headers[i]}" "$@")"
    done
done | awk '
    !($1 in best) || $4 < best[$1] { best[$1] = $4; budget[$1] = $2; header[$1] = $3 }
    END {
        printf "%-34s %8s %6s %6s\n", "#include", "seconds", "ratio", "budget"
        for (i = 0; i in best; ++i) {
            ratio = best[i] / best[0]
            note = ratio <= budget[i] ? "" : ratio <= 1.5 * budget[i] ? "  above the budget" : "  FAILED: above the budget by half"
            failed = failed || ratio > 1.5 * budget[i]
            printf "%-34s %8.2f %6.2f %6.1f%s\n", header[i], best[i], ratio, budget[i], note
        }
        exit failed
    }' | tee "$report"
