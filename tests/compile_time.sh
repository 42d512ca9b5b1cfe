#!/usr/bin/env bash
# tests/compile_time.sh REPORT --compiled=DEFINITIONS COMPILER [FLAG...]: what it costs g++ to compile headers and examples.
# DEFINITIONS are those of rowan::compiled; without any, that way is skipped. The report shows user and system seconds,
# divided by those of xtensor's xarray.hpp, beside a target. Seconds vary with the load of the machine, so two numbers
# decide that do not: the memory that the compiler takes in all, in MB, and the machine code that it makes, in kB. Each
# may be 1.1 times what was reached; above the target, 1.02 times.
# With ROWAN_NIGHTLY, the examples without optimisation, too.
set -euo pipefail
report=$1
definitions=${2#--compiled=}
shift 2
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/../examples" && pwd)
export CCACHE_DISABLE=1 LC_ALL=C

xarray=xtensor/xarray.hpp
if ! "$@" -E -x c++ - <<<"#include <$xarray>" >/dev/null 2>&1; then xarray=xtensor/containers/xarray.hpp; fi  # from xtensor 0.26 on

# what, header-only or compiled, optimisation, target, most MB, most kB
rows=("$xarray header-only -O0 1 200 1"
    "rowan/sparse/selected_rows.hpp header-only -O0 1.4 235 1" "rowan/rowan.hpp header-only -O0 4 1290 1"
    "01_sparse_sgd header-only -O2 4 430 78" "07_plain_network header-only -O2 12 2620 1090")
if [[ -n ${ROWAN_NIGHTLY-} ]]; then
    rows+=("01_sparse_sgd header-only -O0 3 407 190" "07_plain_network header-only -O0 8 2180 2190")
fi
if [[ -n $definitions ]]; then
    rows+=("rowan/rowan.hpp compiled -O0 2.8 660 1" "07_plain_network compiled -O0 4.5 680 121"
        "07_plain_network compiled -O2 6 671 33")
fi

source_of() {
    case $1 in
        *.hpp) echo "#include <$1>" ;;
        *) cat "$examples/$1.cpp" ;;
    esac
}

for row in "${rows[@]}"; do
    read -r what way optimisation _ <<<"$row"
    flags=("$optimisation" -ftime-report)
    if [[ $way == compiled ]]; then flags+=($definitions); fi
    source_of "$what" >"$report.cpp"
    if ! "$@" "${flags[@]}" -c -o "$report.o" "$report.cpp" 2>"$report.said"; then
        cat "$report.said" >&2
        exit 1
    fi
    read -r user system took < <(awk '$1 == "TOTAL" { print $3, $4, $NF }' "$report.said")
    echo "$row $user $system $took $(size "$report.o" | awk 'NR == 2 { print $1 / 1000 }')"
done >"$report.rows"

awk '
BEGIN { printf "%-32s %-12s %-4s %8s %6s %6s %5s %5s\n", "", "", "", "seconds", "ratio", "target", "MB", "kB" }
{
    seconds = $7 + $8
    if (NR == 1) xarray = seconds
    note = seconds / xarray <= $4 ? "" : "  above the target"
    if ($9 + 0 > $5) note = note "  FAILED: more than " $5 " MB"
    if ($10 > $6) note = note "  FAILED: more than " $6 " kB"
    failed = failed || note ~ /FAILED/
    printf "%-32s %-12s %-4s %8.2f %6.2f %6.1f %5d %5d%s\n", $1, $2, $3, seconds, seconds / xarray, $4, $9, $10, note
}
END { exit failed }' "$report.rows" | tee "$report"
