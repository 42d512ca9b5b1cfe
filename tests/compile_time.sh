#!/usr/bin/env bash
# tests/compile_time.sh REPORT --compiled=DEFINITIONS COMPILER [FLAG...]: what it costs g++ to compile headers and programs.
# DEFINITIONS are those of rowan::compiled; without any, that way is skipped. Two numbers decide, which are the same in
# every run: the memory that the compiler takes in all, in MB ("TOTAL" of -ftime-report), and the machine code that it
# makes, in kB. The rule: neither may be more than 1.02 times what was reached, which a row states in whole numbers,
# rounded up. The report also shows MB divided by those of xtensor's xarray.hpp, and targets of this ratio and of kB.
# With ROWAN_NIGHTLY, also the umbrella headers alone, examples without optimisation and, where they are installed, other
# libraries.
set -euo pipefail
report=$1
definitions=${2#--compiled=}
shift 2
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export CCACHE_DISABLE=1 LC_ALL=C

can_include() { "${@:2}" -E -x c++ - -o /dev/null 2>/dev/null <<<"#include <$1>"; } # HEADER COMPILER [FLAG...]

xarray=xtensor/xarray.hpp
if ! can_include $xarray "$@"; then xarray=xtensor/containers/xarray.hpp; fi # from xtensor 0.26 on
torch=("$tests"/../build/venvs/*/lib/python3*/site-packages/torch/include) # PyTorch of the benchmarks

# what; header-only or compiled; optimisation; target of the ratio and of the kB, - for none; MB and kB reached, - for any
rows=("$xarray header-only -O0 - - 175 1"
    "rowan/sparse/selected_rows.hpp header-only -O0 1.4 - 209 1" "rowan/rowan.hpp header-only -O0 5.5 - 940 1"
    "rowan/rowan.hpp compiled -O0 2.1 - 354 1"
    "01_sparse_sgd header-only -O2 - - 377 63" "07_plain_network header-only -O2 12 900 1914 702"
    "07_plain_network compiled -O0 - - 331 56" "07_plain_network compiled -O2 2.1 20 328 15"
    "13_text_classifier compiled -O2 2.8 - 466 21"
    "server compiled -O2 2.1 - 250 6" "rowan.hpp+server compiled -O2 2.1 - 369 6")
if [[ -n ${ROWAN_NIGHTLY-} ]]; then
    rows+=("01_sparse_sgd header-only -O0 - - 419 185" "07_plain_network header-only -O0 - - 2352 2543"
        "rowan/core.hpp header-only -O0 - - 208 1" "rowan/core.hpp compiled -O0 - - 197 1"
        "rowan/sparse.hpp header-only -O0 - - 288 1" "rowan/sparse.hpp compiled -O0 - - 224 1"
        "rowan/sequence.hpp header-only -O0 - - 264 1" "rowan/sequence.hpp compiled -O0 - - 230 1"
        "rowan/graph.hpp header-only -O0 - - 415 1" "rowan/graph.hpp compiled -O0 - - 226 1"
        "rowan/op.hpp header-only -O0 - - 440 1" "rowan/op.hpp compiled -O0 - - 306 1"
        "rowan/train.hpp header-only -O0 - - 598 1" "rowan/train.hpp compiled -O0 - - 238 1"
        "rowan/distributed.hpp header-only -O0 - - 722 1" "rowan/distributed.hpp compiled -O0 - - 263 1"
        "rowan/layer.hpp header-only -O0 - - 590 1" "rowan/layer.hpp compiled -O0 - - 258 1"
        "rowan/io.hpp header-only -O0 - - 1094 66" "rowan/io.hpp compiled -O0 - - 306 1"
        "torch/torch.h header-only -O0 - - - -" "Eigen/Dense header-only -O0 - - - -")
fi

source_of() {
    case $1 in
        *.hpp | */*) echo "#include <$1>" ;;
        server) cat "$tests/cost/server.cpp" ;;
        rowan.hpp+server) echo '#include <rowan/rowan.hpp>' && cat "$tests/cost/server.cpp" ;;
        *) cat "$tests/../examples/$1.cpp" ;;
    esac
}

for row in "${rows[@]}"; do
    read -r what way optimisation _ <<<"$row"
    flags=("$optimisation" -ftime-report)
    if [[ $way == compiled ]]; then
        if [[ -z $definitions ]]; then continue; fi
        flags+=($definitions)
    fi
    needs=
    case $what in
        *server | 13_* | rowan/io.hpp) needs=pb.h ;;
        torch/*) needs=$what && flags+=(-isystem "$torch" -isystem "$torch/torch/csrc/api/include") ;;
        Eigen/*) needs=$what && flags+=(-isystem /usr/include/eigen3) ;;
    esac
    if [[ -n $needs ]] && ! can_include "$needs" "$@" "${flags[@]}"; then
        echo "SKIPPED cost, $what: $needs is not installed" >&2
        continue
    fi
    source_of "$what" >"$report.cpp"
    if ! "$@" "${flags[@]}" -c -o "$report.o" "$report.cpp" 2>"$report.said"; then
        cat "$report.said" >&2
        exit 1
    fi
    echo "$row $(awk '$1 == "TOTAL" { print $NF + 0 }' "$report.said") $(size "$report.o" | awk 'NR == 2 { print $1 / 1000 }')"
done >"$report.rows"

awk '
function over(number, limit) { return limit != "-" && number > limit }
BEGIN { printf "%-32s %-12s %-4s %5s %6s %6s %6s %6s\n", "", "", "", "MB", "ratio", "target", "kB", "target" }
{
    if (NR == 1) xarray = $8
    note = over($8 / xarray, $4) || over($9, $5) ? "  above the target" : ""
    if ($6 != "-" && $8 > 1.02 * $6) note = note "  FAILED: more than 1.02 * " $6 " MB"
    if ($7 != "-" && $9 > 1.02 * $7) note = note "  FAILED: more than 1.02 * " $7 " kB"
    failed = failed || note ~ /FAILED/
    printf "%-32s %-12s %-4s %5d %6.2f %6s %6d %6s%s\n", $1, $2, $3, $8, $8 / xarray, $4, $9, $5, note
}
END { exit failed }' "$report.rows" | tee "$report"
