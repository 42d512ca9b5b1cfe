#!/usr/bin/env bash
# tests/run.sh [CHECK...]: installs what is missing from Debian's packages, then builds and runs the checks named, or all of them.
#   gcc       the tests with g++, Release, warnings are errors, and the compile-time budget
#   clang     the tests and the examples with clang 16 under the address and undefined-behavior sanitizers, warnings are errors
#   threads   under clang 16's thread sanitizer, tests and examples with the single header alone, for which it is precompiled
#   single    the single header is current, compiles and links as C++ and as CUDA, and is enough for the examples; its generator, on small trees
#   fuzz      every fuzz target for 20 seconds from its corpus, under the sanitizers of the check clang
#   headers   every public header compiled alone, and two files that include everything linked
#   cuda      the headers and the tests for CUDA with nvcc; what runs on a GPU where there is one
#   static    programs of static_asserts
#   fail      programs that must not compile, with the sentence that the compiler must print
#   docs      Doxygen's pages, in build/docs/html, without a warning; and every function says what it costs and throws
#   consume   programs that use rowan in each of the ways that the README shows, the ways that are refused, and what a small program costs
#   demo      examples/demo.sh, whose program is built for this processor, gives the numbers of the program that gcc built
#   conan     Conan, from PyPI, makes the package over Debian's packages, with no remote, and two projects use it
#   matrix    programs that use all parts but devices, with each compiler and each version of xtensor, Catch2 and nanopb that is here
# And one that is run only when it is named, as it downloads 200 MB:
#   paddle    streams and arrays against PaddlePaddle 3.3.1 and its NumPy, which are installed from PyPI into build/paddle
# What this machine cannot do is skipped by name and not counted. The last line counts the tests of all checks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/packages.sh
source tests/consume/conan/check.sh
source tests/matrix.sh

all=(gcc clang threads single fuzz headers cuda static fail docs consume demo conan matrix)
if (($# == 0)); then set -- "${all[@]}"; fi
checks=" $* "
for check in "$@"; do
    if [[ " ${all[*]} paddle " != *" $check "* ]]; then
        echo "tests/run.sh has no check '$check', only ${all[*]} paddle" >&2
        exit 2
    fi
done

install_missing "${packages_test[@]}" || echo "Going on with what there is." >&2
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache; fi
export CCACHE_SLOPPINESS=pch_defines,time_macros # without which ccache keeps nothing that has a precompiled header
jobs=$(nproc)
total=0
failed=0
bad=()
skipped=()

# skip NAME REASON: says what is not run, now and at the end.
skip() {
    echo "SKIPPED $1: $2"
    skipped+=("$1: $2")
}

# has NAME TOOL...: whether the tools are there; skips NAME when one is not.
has() {
    local tool
    for tool in "${@:2}"; do
        if ! command -v "$tool" >/dev/null; then
            skip "$1" "$tool is not installed"
            return 1
        fi
    done
}

# count CHECK FAILED TOTAL: adds to what the last line says.
count() {
    failed=$((failed + $2))
    total=$((total + $3))
    if (($2 > 0)); then bad+=("$1"); fi
}

# skipped_tests PRESET CHECK: what the tests that have just run say that they skipped.
skipped_tests() {
    local line
    while read -r line; do skipped+=("$2 ($1): $line"); done < \
        <(sed -nE 's/^ *SKIPPED (.+: .+)/\1/p' "build/$1/Testing/Temporary/LastTest.log" | sort -u)
}

# run CHECK PRESET TARGET [ctest argument...]: configures, builds TARGET (none: nothing), runs the tests. A build that fails counts as one test.
run() {
    local preset=$2 log=build/$2/$1.log start=$SECONDS numbers failures
    echo "== $1: $preset"
    mkdir -p "build/$preset"
    if { cmake --preset "$preset" --log-level=NOTICE &&
        { [[ $3 == none ]] || cmake --build --preset "$preset" --target "$3" -j "$jobs" -- -k 0; }; } 2>&1 |
        tee "$log"; then
        ctest --preset "$preset" --no-tests=error --timeout 600 -j "$jobs" "${@:4}" | tee "$log" || true
        skipped_tests "$preset" "$1"
        numbers=$(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/p' "$log" | tail -n 1)
        failures=$(sed -n '/^The following tests FAILED:/,/^Errors while/p' "$log" | grep -E '^\s*[0-9]+ - ' | head -n 20 || true)
        total=$((total - $(grep -cF '***Skipped' "$log" || true))) # ctest counts them as passed
    else
        failures="does not build
$(grep -E 'error:|^CMake Error' "$log" | head -n 20 || true)"
    fi
    count "$1 ($preset)${failures:+: $failures}" ${numbers:-1 1}
    echo "== $1: $preset took $((SECONDS - start)) s"
}

# both CHECK TARGET [ctest argument...]: the same with both compilers.
both() {
    if has "$1 with g++" g++; then run "$1" gcc "${@:2}"; fi
    if has "$1 with clang" clang++-16; then run "$1" clang "${@:2}"; fi
}

own=(-LE '^(headers|static|fail|single)$') # what has no check of its own

gcc() {
    has gcc g++ || return 0
    run gcc gcc all "${own[@]}"
    cat build/gcc/tests/compile_time.txt || true
}

clang() {
    has clang clang++-16 || return 0
    run clang clang all "${own[@]}"
}

threads() {
    has threads clang++-16 || return 0
    local archer
    archer=$(clang++-16 -print-resource-dir)/../../libarcher.so # tells the thread sanitizer what OpenMP's barriers order
    if [[ -f $archer ]]; then
        OMP_TOOL_LIBRARIES=$archer run threads tsan all -LE '^(headers|single)$'
    else
        skip threads "libarcher.so is not installed"
    fi
}

single() {
    both single rowan_single -L '^single$'
    if has "single, examples" g++; then run single single examples/all; fi
}

# What is found stays in the build folder; what fails too, under the name that libFuzzer prints.
fuzz() {
    has fuzz clang++-16 || return 0
    echo "== fuzz"
    if ! cmake --preset clang --log-level=NOTICE; then
        count fuzz 1 1
        return 0
    fi
    if ! grep -q '^ROWAN_LIBFUZZER:.*=1$' build/clang/CMakeCache.txt; then
        skip fuzz "clang's libFuzzer is not installed"
        return 0
    fi
    if ! cmake --build --preset clang --target rowan_fuzz -j "$jobs" -- -k 0; then
        count fuzz 1 1
        return 0
    fi
    local program name found
    for program in build/clang/tests/fuzz/rowan_fuzz_*; do
        name=${program##*rowan_fuzz_}
        found=build/clang/tests/fuzz/found/$name
        mkdir -p "$found"
        echo "-- fuzz $name"
        if "$program" -max_total_time=20 -malloc_limit_mb=64 -rss_limit_mb=512 -timeout=5 -print_final_stats=1 \
            -artifact_prefix="build/clang/tests/fuzz/failed-$name-" "$found" "tests/fuzz/corpus/$name" >"$found.log" 2>&1; then
            grep -E '^stat::(number_of_executed_units|peak_rss_mb)' "$found.log"
            count "fuzz $name" 0 1
        else
            tail -n 50 "$found.log"
            count "fuzz $name" 1 1
        fi
    done
}

# With one compiler: the other one sees all headers in the tests.
headers() {
    local preset=clang
    has "headers with clang" clang++-16 || preset=gcc
    run headers "$preset" all_verify_interface_header_sets -L '^headers$'
}
cuda() {
    has cuda nvcc || return 0
    run cuda cuda rowan_cuda_all
    local name="cuda, compute-sanitizer" log=build/cuda/sanitizer.log
    if ! nvidia-smi -L >/dev/null 2>&1; then
        skip "$name" "no CUDA device"
    elif has "$name" compute-sanitizer; then
        if compute-sanitizer --error-exitcode 1 build/cuda/tests/cuda/rowan_tests_cuda >"$log" 2>&1; then
            count "$name" 0 1
        else
            tail -n 50 "$log"
            count "$name" 1 1
        fi
    fi
}
static() { both static none -L '^static$'; }
fail() {
    if has "fail with g++" g++; then run fail gcc none -L '^fail$'; fi
    if has "fail with clang" clang++-16; then run fail clang none -L '^fail$' -E 'valid twin$'; fi # the twins are C++ that g++ takes
}

docs() {
    has docs doxygen python3 || return 0
    local start=$SECONDS
    echo "== docs"
    rm -rf build/docs
    if python3 tests/docs/filter.py build/docs/source && doxygen tests/docs/Doxyfile |& sed 's|build/docs/source/||'; then count docs 0 1; else count "docs: Doxygen warns" 1 1; fi
    if python3 tests/docs/lint.py; then count docs 0 1; else count "docs: contracts" 1 1; fi
    echo "== docs: $(find build/docs/html -name '*.html' | wc -l) pages took $((SECONDS - start)) s"
}

consume() {
    has consume g++ cmake || return 0
    echo "== consume"
    local start=$SECONDS line status=0
    bash tests/consume.sh build/consume || status=$?
    while read -r line; do
        case $line in
            "passed "*) count consume 0 1 ;;
            "FAILED "*) count "${line#FAILED }" 1 1 ;;
            "SKIPPED "*) skipped+=("${line#SKIPPED }") ;;
        esac
    done < <(cat build/consume/results.txt || true)
    if ((status != 0)) && ! grep -q '^FAILED ' build/consume/results.txt; then count "consume ends with status $status" 1 1; fi
    echo "== consume took $((SECONDS - start)) s"
}

demo() {
    has demo g++ || return 0
    if [[ ! -r /usr/share/wordnet/data.noun ]]; then
        skip demo "WordNet is not installed (wordnet-base)"
        return 0
    fi
    echo "== demo"
    local plain=build/gcc/examples/gloss_classifier arguments=(--epochs 1 --classify 'a large wild cat with stripes')
    if ! bash examples/demo.sh "${arguments[@]}" >build/demo.txt; then
        count demo 1 1
    elif [[ ! -x $plain ]]; then
        skip "demo, the same numbers" "the check gcc has not built the program"
        count demo 0 1
    elif diff <(grep -v tokens/s build/demo.txt) <("$plain" "${arguments[@]}" | grep -v tokens/s); then
        count demo 0 1
    else
        count demo 1 1
    fi
}

paddle() {
    has paddle g++ || return 0
    local folder=build/paddle
    if ! "$folder/bin/python3" -c 'import paddle' 2>/dev/null; then
        install_missing python3-venv || true
        mkdir -p build
        if ! { /usr/bin/python3 -m venv "$folder" && "$folder/bin/pip" install -q paddlepaddle==3.3.1 numpy; }; then
            skip paddle "PaddlePaddle 3.3.1 cannot be installed"
            return 0
        fi
    fi
    run paddle gcc rowan_python -R '^python: (Paddle|NumPy)'
}

for check in "$@"; do "$check"; done

echo
if ((${#skipped[@]})); then printf 'SKIPPED %s\n' "${skipped[@]}"; fi
if ((${#bad[@]})); then printf 'FAILED %s\n' "${bad[@]}"; fi
if ((total == 0)); then
    echo "nothing could be run" >&2
    exit 1
fi
percent=$(((total - failed) * 100 / total))
echo "$percent% tests passed, $failed tests failed out of $total"
exit $((failed > 0))
