#!/usr/bin/env bash
# tests/run.sh                      the quick check: run it after every change
# tests/run.sh full                 the other checks that every change must pass
# tests/run.sh nightly              the checks that take hours
# tests/run.sh ROOM [WORD...]       the tests of a room; with words, those with every word in name, tags or file name
# tests/run.sh BUILD ROOM [WORD...] the same in another build: clang, sanitize, tsan, cuda, release
# tests/run.sh CHECK...             the checks named; tests/README.md lists them
# Installs missing Debian packages. Names each test that this machine cannot run, and does not count it. The last line
# counts the tests of all checks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/packages.sh
source tests/consume/conan/check.sh
source tests/matrix.sh

folders=(core sparse sequence op graph layer train io distributed dtypes exceptions)
quick_rooms=("${folders[@]:0:9}" static example files)
gcc_rooms=(dtypes exceptions jobs thrust bfloat16 native registers registers_fma blas serial mpi descriptors checkpoints python libraries single carries fail cost)
rooms=("${quick_rooms[@]}" "${gcc_rooms[@]}" headers fuzz bench cuda cuda-host)
full=(docs headers gcc clang fuzz threads cuda consume demo)
nightly=(long_demo all_threads cuda_all conan pip consume_source release floats sanitize every_header long_fuzz single_gcc bench compile matrix paddle gensim)
all=(quick full nightly "${full[@]}" "${nightly[@]}")
builds=(gcc clang sanitize tsan cuda release)

among() { [[ " ${*:2} " == *" $1 "* ]]; } # WORD LIST...
checks=("$@")
if (($# == 0)); then checks=(quick); fi
build= room=
words_are_checks=yes
for check in "${checks[@]}"; do among "$check" "${all[@]}" || words_are_checks=; done
if [[ -z $words_are_checks ]]; then
    if (($# > 1)) && among "$1" "${builds[@]}" && among "$2" "${rooms[@]}"; then
        build=$1
        shift
    fi
    room=$1
    if ! among "$room" "${rooms[@]}"; then
        for check in "$@"; do
            if ! among "$check" "${all[@]}" "${rooms[@]}"; then room=$check; fi
        done
        echo "tests/run.sh: '$room' is no check, and the first word is no room. Checks: ${all[*]}. Rooms: ${rooms[*]}" >&2
        exit 2
    fi
fi

packages=("${packages_test[@]}")
if [[ ${checks[*]} == quick ]] || { [[ -z $build ]] && among "$room" "${folders[@]}" "${quick_rooms[@]}"; }; then
    packages=("${packages_quick[@]}")
fi
install_missing "${packages[@]}" || echo "Going on with what there is." >&2
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache; fi
export CCACHE_SLOPPINESS=pch_defines,time_macros # else ccache stores nothing that uses a precompiled header
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=20G # several checkouts share what was compiled
jobs=$(nproc)
total=0
failed=0
bad=()
skipped=()
parts=()

# skip NAME REASON: prints that NAME is skipped, now and at the end.
skip() {
    echo "SKIPPED $1: $2"
    skipped+=("$1: $2")
}

# has NAME TOOL...: whether the tools are installed; if not, skips NAME.
has() {
    local tool
    for tool in "${@:2}"; do
        if ! command -v "$tool" >/dev/null; then
            skip "$1" "$tool is not installed"
            return 1
        fi
    done
}

# has_wordnet NAME: whether WordNet is installed; if not, skips NAME.
has_wordnet() {
    [[ -r /usr/share/wordnet/data.noun ]] && return
    skip "$1" "WordNet is not installed (wordnet-base)"
    return 1
}

# count CHECK FAILED TOTAL [COMMAND]: adds to the numbers of the last line. COMMAND runs the check again.
count() {
    failed=$((failed + $2))
    total=$((total + $3))
    if (($2 > 0)); then bad+=("$1${4:+    $4}"); fi
}

# configure CHECK BUILD
configure() {
    if ! cmake --preset "$2" --log-level=NOTICE >"build/$2.log" 2>&1; then
        cat "build/$2.log"
        count "$1: CMake ends with an error" 1 1
        return 1
    fi
    grep -A 5 '^CMake Warning' "build/$2.log" || true
}

# run CHECK BUILD ROOMS [WORD...]: builds and runs the tests of the rooms that have all the words.
run() {
    local log=build/$2.results kind one again again_build=" $2"
    if [[ $2 == gcc ]]; then again_build=; fi
    echo "== $1"
    mkdir -p build
    configure "$1" "$2" || return 0
    : >"$log"
    python3 tests/cases.py "build/$2" --rooms $3 --words "${@:4}" --jobs "$jobs" --log "$log" --again "bash tests/run.sh$again_build" || true
    if [[ ! -s $log ]]; then count "$1: nothing was run" 1 1; fi
    while IFS=$'\t' read -r kind one again; do
        case $kind in
            total) total=$((total + one)) ;;
            failed) count "$one" 1 0 "$again" ;;
            skipped) skipped+=("$one") ;;
        esac
    done <"$log"
    if among cost $3; then cat "build/$2/tests/compile_time.txt" || true; fi
}

# The builds of clang: without hot teams, which libomp leaks when they grow, and with the settings of the sanitizers.
clang_run() { KMP_HOT_TEAMS_MAX_LEVEL=0 run "$@"; }
tsan_run() {
    local archer
    archer=$(clang++-16 -print-resource-dir)/../../libarcher.so # tells the thread sanitizer about OpenMP's barriers
    if [[ -f $archer ]]; then
        OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS=ignore_noninstrumented_modules=1 run "$@"
    else
        skip "$1" "libarcher.so is not installed"
    fi
}
run_in() { # BUILD CHECK ROOMS [WORD...]
    case $1 in
        clang | sanitize) clang_run "$2" "$1" "${@:3}" ;;
        tsan) tsan_run "$2" tsan "${@:3}" ;;
        *) run "$2" "$1" "${@:3}" ;;
    esac
}

quick() { has quick g++ python3 && run quick gcc "${quick_rooms[*]}"; }

gcc() { has gcc g++ && run gcc gcc "${gcc_rooms[*]}"; }
headers() {
    if has "headers with clang" clang++-16; then clang_run headers clang headers; else run headers gcc headers; fi
}
every_header() { ROWAN_EVERY_HEADER=1 headers; }
clang() { has clang clang++-16 && clang_run clang clang "core sparse sequence"; }
threads() { has threads clang++-16 && tsan_run threads tsan "core sparse sequence distributed"; }
all_threads() { has all_threads clang++-16 && tsan_run all_threads tsan "${folders[*]} example jobs"; }

# New and failing inputs remain in the build folder; libFuzzer prints the names.
fuzz() { # [BUILD SECONDS]
    has fuzz clang++-16 || return 0
    local build=build/${1:-clang} seconds=${2:-5} program name found
    clang_run fuzz "${1:-clang}" fuzz
    if ! grep -q '^ROWAN_LIBFUZZER:.*=1$' "$build/CMakeCache.txt"; then
        skip fuzz "clang's libFuzzer is not installed"
        return 0
    fi
    for program in "$build"/tests/fuzz/rowan_fuzz_*; do
        name=${program##*rowan_fuzz_}
        found=$build/tests/fuzz/found/$name
        mkdir -p "$found"
        echo "-- fuzz $name for $seconds s"
        if "$program" -max_total_time="$seconds" -malloc_limit_mb=64 -rss_limit_mb=512 -timeout=5 -print_final_stats=1 \
            -artifact_prefix="$build/tests/fuzz/failed-$name-" "$found" "tests/fuzz/corpus/$name" >"$found.log" 2>&1; then
            grep -E '^stat::(number_of_executed_units|peak_rss_mb)' "$found.log"
            count "fuzz $name" 0 1
        else
            tail -n 50 "$found.log"
            count "fuzz $name" 1 1 "bash tests/run.sh fuzz"
        fi
    done
}
long_fuzz() { fuzz sanitize 60; }

cuda() {
    has cuda nvcc || return 0
    run cuda cuda "cuda cuda-host"
    local name="cuda, compute-sanitizer" log=build/cuda/sanitizer.log
    if ! nvidia-smi -L >/dev/null 2>&1; then
        skip "$name" "no CUDA device"
    elif has "$name" compute-sanitizer; then
        if compute-sanitizer --error-exitcode 1 build/cuda/tests/cuda/rowan_tests_cuda >"$log" 2>&1; then
            count "$name" 0 1
        else
            tail -n 50 "$log"
            count "$name" 1 1 "bash tests/run.sh cuda"
        fi
    fi
}

# All tests for CUDA compile, without optimisation, as on a machine with a GPU.
cuda_all() {
    has cuda_all nvcc || return 0
    echo "== cuda_all"
    if cmake --preset cuda -B build/cuda_o0 --log-level=NOTICE -DROWAN_CUDA_ALL=ON "-DCMAKE_CUDA_FLAGS_RELEASE=-O0 -Xcicc -O0 -Xptxas -O0" &&
        cmake --build build/cuda_o0 --target rowan_tests_cuda -- -k 0; then
        count cuda_all 0 1
    else
        count cuda_all 1 1 "bash tests/run.sh cuda_all"
    fi
}

docs() {
    has docs doxygen python3 || return 0
    echo "== docs"
    rm -rf build/docs
    mkdir -p build/docs
    if doxygen tests/docs/Doxyfile; then
        count docs 0 1
    else
        count "docs: Doxygen warns" 1 1 "bash tests/run.sh docs"
    fi
    if python3 tests/docs/lint.py; then count docs 0 1; else count "docs: contracts" 1 1 "python3 tests/docs/lint.py"; fi
    echo "$(find build/docs/html -name '*.html' | wc -l) pages"
}

consume() {
    has consume g++ cmake || return 0
    echo "== consume"
    local line status=0
    bash tests/consume.sh build/consume || status=$?
    while read -r line; do
        case $line in
            "passed "*) count consume 0 1 ;;
            "FAILED "*) count "${line#FAILED }" 1 1 "bash tests/consume.sh build/consume" ;;
            "SKIPPED "*) skipped+=("${line#SKIPPED }") ;;
        esac
    done < <(cat build/consume/results.txt || true)
    if ((status != 0)) && ! grep -q '^FAILED ' build/consume/results.txt; then count "consume ends with status $status" 1 1; fi
}

# The program of examples/demo.sh, built for this processor, prints the numbers of the build gcc.
demo() {
    if ! has demo g++ || ! has_wordnet demo; then return 0; fi
    echo "== demo"
    local plain=build/gcc/examples/gloss_classifier native=build/demo/examples/gloss_classifier
    if ! bash examples/demo.sh --epochs 1 --classify 'a large wild cat with stripes'; then
        count demo 1 1 "bash tests/run.sh demo"
        return 0
    fi
    count demo 0 1
    if configure demo gcc && cmake --build build/gcc --target gloss_classifier && bash tests/gloss_classifier.sh --same "$native" "$plain"; then
        count demo 0 1
    else
        count "demo, the same numbers" 1 1 "bash tests/gloss_classifier.sh --same $native $plain"
    fi
}

# The jobs at their whole length: the accuracy on all of WordNet, the AUC on day 15 within 0.005 of the best.
long_demo() {
    if ! has long_demo g++ || ! has_wordnet long_demo; then return 0; fi
    echo "== long_demo"
    local native=build/demo/examples/gloss_classifier
    if ! bash examples/demo.sh --epochs 0; then
        count long_demo 1 1 "bash tests/run.sh long_demo"
        return 0
    fi
    if bash tests/gloss_classifier.sh "$native" >build/long_demo.txt 2>&1; then
        count long_demo 0 1
    else
        count "long_demo, all of WordNet" 1 1 "bash tests/gloss_classifier.sh $native"
    fi
    cat build/long_demo.txt
    if bash examples/demo.sh --job clicks >build/clicks.txt && grep day_15 build/clicks.txt && awk '/^day_15.*best/ { best = $6 } /^day_15.*before/ { good = $5 > best - 0.005 } END { exit !good }' build/clicks.txt; then
        count long_demo 0 1
    else
        count "long_demo, clicks: AUC on day 15 within 0.005 of the best" 1 1 "bash examples/demo.sh --job clicks"
    fi
}

# A program that compiles the source of the compiled library with it.
consume_source() {
    has consume_source g++ cmake pkg-config || return 0
    rm -rf build/consume_source
    if ROWAN_NIGHTLY=1 bash tests/consume.sh build/consume_source compiled; then
        count consume_source 0 1
    else
        count consume_source 1 1 "bash tests/run.sh consume_source"
    fi
}

# The lines for pip in examples/README.md, in a new environment: nothing but what they install is there. The module then runs beside NumPy 1, too.
pip() {
    has pip g++ cmake python3 /usr/bin/time || return 0
    local lines python=build/env/bin/python example=examples/python/01_plain_network
    mapfile -t lines < <(grep -A 2 '^    apt install .*python3-venv' examples/README.md)
    if ! read -ra packages <<<"${lines[0]#*install }" || ! install_missing "${packages[@]}"; then
        skip pip "${lines[0]#*install } cannot be installed"
        return 0
    fi
    echo "== pip"
    rm -rf build/env
    if eval "/usr/bin/time -f '%e s, %U + %S s of processor time, %M kB' bash -c '${lines[1]}'" && eval "${lines[2]}" | diff -u "$example.out" - &&
        (cd build && env/bin/python -c 'import importlib.metadata as m, rowan; assert m.version("rowan") == rowan.__version__, m.version("rowan")
from pathlib import Path; package = Path(rowan.__file__).parent; assert (package / "py.typed").exists() and (package.parent / "rowan_cpp-stubs" / "__init__.pyi").exists()') &&
        "$python" -m pip install -q 'numpy<2' && "$python" "$example.py" | diff -u "$example.out" -; then
        count pip 0 1
    else
        count pip 1 1 "bash tests/run.sh pip"
    fi
}

# All tests optimised, header-only, with every file compiled alone.
release() { ROWAN_NIGHTLY=1 run release release "${quick_rooms[*]} ${gcc_rooms[*]} fuzz"; }
# Activations and their slopes at all 2^32 floats, optimised.
floats() {
    has floats g++ || return 0
    echo "== floats"
    if configure floats release && cmake --build build/release --target rowan_tests_op && build/release/tests/rowan_tests_op '[.floats]'; then
        count floats 0 1
    else
        count floats 1 1 "bash tests/run.sh floats"
    fi
}
sanitize() { has sanitize clang++-16 && clang_run sanitize sanitize "${folders[*]:0:9} static example ${gcc_rooms[*]}"; }
bench() { run bench release bench; }

# What of compiling takes gigabytes or minutes, and what a step of training enters.
compile() {
    has compile g++ python3 addr2line || return 0
    echo "== compile"
    if python3 tests/bench/compile.py && python3 tests/bench/walk.py; then
        count compile 0 1
    else
        count compile 1 1 "bash tests/run.sh compile"
    fi
}

# The examples with g++ and the single header alone.
single_gcc() {
    local example folder=build/single_gcc
    echo "== single_gcc"
    mkdir -p "$folder"
    for example in examples/[0-9][0-9]_*.cpp; do
        example=$(basename "$example" .cpp)
        if grep -qE "rowan/(io|thrust)" "examples/$example.cpp"; then
            skip "single_gcc, $example" "the single header leaves out what it needs"
        elif sed 's|^#include <rowan/.*|#include <rowan/rowan.hpp>|' "examples/$example.cpp" >"$folder/$example.cpp" &&
            g++ -std=c++20 -O1 -fopenmp -Wall -Wextra -Wconversion -Wpedantic -Werror -I single_include -o "$folder/$example" "$folder/$example.cpp" &&
            (cd "$folder" && "./$example") >"$folder/$example.out" && diff "$folder/$example.out" "examples/$example.out"; then
            count single_gcc 0 1
        else
            count "single_gcc, $example" 1 1 "bash tests/run.sh single_gcc"
        fi
    done
}

# Streams and arrays against PaddlePaddle 3.3.1 and its NumPy, installed from PyPI into build/paddle (200 MB).
paddle() {
    has paddle g++ || return 0
    local folder=build/paddle word
    if ! "$folder/bin/python3" -c 'import paddle' 2>/dev/null; then
        install_missing python3-venv || true
        mkdir -p build
        if ! { /usr/bin/python3 -m venv "$folder" && "$folder/bin/pip" install -q paddlepaddle==3.3.1 numpy; }; then
            skip paddle "PaddlePaddle 3.3.1 cannot be installed"
            return 0
        fi
    fi
    for word in Paddle NumPy; do run paddle gcc python "$word"; done
}

# The vectors that word2vec saves, read by gensim 4.4.0, installed from PyPI into build/gensim.
gensim() {
    has gensim g++ || return 0
    local folder=build/gensim
    echo "== gensim"
    if ! "$folder/bin/python3" -c 'import gensim' 2>/dev/null; then
        install_missing python3-venv || true
        mkdir -p build
        if ! { /usr/bin/python3 -m venv "$folder" && "$folder/bin/pip" install -q gensim==4.4.0; }; then
            skip gensim "gensim 4.4.0 cannot be installed"
            return 0
        fi
    fi
    configure gensim gcc || return 0
    if ! grep -q word2vec <<<"$(cmake --build build/gcc --target help)"; then
        skip gensim "the example word2vec cannot be built"
    elif cmake --build build/gcc --target word2vec && bash tests/word2vec.sh build/gcc/examples/word2vec "$folder/bin/python3"; then
        count gensim 0 1
    else
        count gensim 1 1 "bash tests/run.sh gensim"
    fi
}

# timed CHECK COMMAND...: runs the command; its duration is printed now and at the end.
timed() {
    local start=$SECONDS
    "${@:2}" || true # a skipped check returns 1
    parts+=("$(awk -v name="$1" -v took=$((SECONDS - start)) 'BEGIN { printf "%-10s %5.1f minutes", name, took / 60 }')")
    echo "${parts[-1]}"
}

mkdir -p build
touch build/start
if [[ -n $room ]]; then
    if [[ -z $build ]]; then
        build=gcc
        case $room in
            cuda | cuda-host) build=cuda ;;
            bench) build=release ;;
        esac
    fi
    timed "$room" run_in "$build" "$*" "$room" "${@:2}"
else
    list=()
    for check in "${checks[@]}"; do
        case $check in
            full) list+=("${full[@]}") ;;
            nightly) list+=("${nightly[@]}") ;;
            *) list+=("$check") ;;
        esac
    done
    checks=" ${list[*]} "
    for check in "${list[@]}"; do timed "$check" "$check"; done
fi

echo
if [[ -z $room ]]; then
    printf '%s\n' "${parts[@]}"
    slowest=$({ find build/*/.ninja_log -newer build/start 2>/dev/null || true; } | while read -r log; do
        awk -F '\t' -v folder="$(dirname "$log")/" '$4 ~ /\.(o|gch|pch)$/ { print folder $4 "\t" ($2 - $1) / 1000 }' "$log"
    done | while IFS=$'\t' read -r file took; do
        if [[ $file -nt build/start ]]; then echo "$took s  $file"; fi
    done | sort -rn | sed -n 1,5p) # not head, which would end before sort
    if [[ -n $slowest ]]; then printf 'The slowest files to compile:\n%s\n' "$slowest"; fi
fi
if ((${#skipped[@]})); then printf 'SKIPPED %s\n' "${skipped[@]}" | sort -u; fi
if ((${#bad[@]})); then printf 'FAILED %s\n' "${bad[@]}"; fi
if ((total == 0)); then
    echo "nothing could be run" >&2
    exit 1
fi
percent=$(((total - failed) * 100 / total))
echo "$percent% tests passed, $failed tests failed out of $total"
exit $((failed > 0))
