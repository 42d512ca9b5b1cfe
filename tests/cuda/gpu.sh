#!/usr/bin/env bash
# tests/cuda/gpu.sh build [FOLDER]           builds here what runs on a GPU elsewhere: all tests, the benchmark and the gloss classifier
# tests/cuda/gpu.sh run [FOLDER [RESULTS]]   runs them there, within ten minutes, and leaves what they print in RESULTS
# FOLDER (build/gpu) has the programs and the data that they read, and is all that must be carried, with this checkout. There, the toolkit's
# libraries are needed, compute-sanitizer, and, to compare, a python3 with torch. ARCHITECTURES=90-real is for another GPU: see CMake's
# CUDA_ARCHITECTURES.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$(realpath -m "${2:-build/gpu}")

build() {
    local program library
    cmake --preset cuda -B build/cuda_all -DROWAN_CUDA_ALL=ON -DROWAN_BENCH=ON -DROWAN_EXAMPLES=ON \
        "-DCMAKE_CUDA_ARCHITECTURES=${ARCHITECTURES:-90-real;80-virtual}"
    cmake --build build/cuda_all --target rowan_tests_cuda rowan_bench_cuda gloss_classifier
    rm -rf "$folder"
    mkdir -p "$folder/lib" "$folder/wordnet"
    for program in tests/cuda/rowan_tests_cuda tests/bench/rowan_bench_cuda examples/gloss_classifier; do
        strip -o "$folder/${program##*/}" "build/cuda_all/$program"
        while read -r library; do
            cp -Lu "$library" "$folder/lib"
        done < <(ldd "$folder/${program##*/}" | awk '$3 ~ /^\// { print $3 }' | grep -E 'nanopb|Catch2|rapidcheck|nccl' || true)
    done
    cp /usr/share/wordnet/data.* "$folder/wordnet"
    du -sh "$folder"
}

# part SECONDS NAME COMMAND...: what the command prints is in RESULTS/NAME, and its end on the terminal.
part() {
    local status=0 begin=$SECONDS
    timeout -s INT -k 10 "$1" "${@:3}" >"$results/$2" 2>&1 || status=$?
    printf '%-14s status %3d, %3d s: %s\n' "$2" "$status" $((SECONDS - begin)) "$(tail -n 1 "$results/$2")" | tee -a "$results/summary.txt"
}

# sanitize TOOL: the tests of rows, sequences, sums and errors. The tools take turns with nothing: each is one process on one core.
sanitize() {
    local files='[#merge],[#gather],[#scatter_add],[#row_plan],[#update_rows],[#optimizers],[#split],[#retain],[#unpack],[#padded],[#ids],[#teams],[#device]'
    compute-sanitizer --tool "$1" --error-exitcode 9 "$folder/rowan_tests_cuda" --filenames-as-tags "$files"
}
sanitize_all() {
    local tool pids=() failed=0
    for tool in memcheck racecheck initcheck synccheck; do
        sanitize "$tool" >"$results/$tool.log" 2>&1 &
        pids+=($!)
    done
    for tool in "${pids[@]}"; do wait "$tool" || failed=1; done
    for tool in memcheck racecheck initcheck synccheck; do
        echo "== $tool"
        grep -E '=====|^All tests|^test cases|FAILED' "$results/$tool.log" | tail -n 40
        rm "$results/$tool.log"
    done
    return $failed
}

machine() {
    nvidia-smi
    nvcc --version || true
    lscpu | grep 'Model name'
}

gloss() {
    local device
    for device in cpu cuda; do
        echo "== $device"
        "$folder/gloss_classifier" --model gru --epochs 1 --device "$device" --wordnet "$folder/wordnet" --classify 'a large wild cat with stripes'
    done
    python3 tests/bench/gloss.py --model gru --epochs 1 --device cuda --wordnet "$folder/wordnet" || true
}

run() {
    local library
    results=$(realpath -m "${1:-build/gpu_results}")
    mkdir -p "$results"
    : >"$results/summary.txt"
    export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONUNBUFFERED=1
    for library in libcudart.so.13 libcublas.so.13; do
        LD_LIBRARY_PATH+=:$(dirname "$(find -L /usr/local /opt -name "$library" 2>/dev/null | head -n 1)")
    done
    export folder results
    export -f machine sanitize sanitize_all gloss
    part 15 machine.txt bash -c machine
    part 140 tests.txt "$folder/rowan_tests_cuda"
    part 180 bench.md python3 tests/bench/cuda.py --rowan "$folder/rowan_bench_cuda" --rounds 2
    part 130 sanitizer.txt bash -c sanitize_all
    part 70 gloss.txt bash -c gloss
}

case ${1:-} in
    build) build ;;
    run) run "${3:-}" ;;
    *)
        sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}" >&2
        exit 2
        ;;
esac
