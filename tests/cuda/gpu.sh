#!/usr/bin/env bash
# tests/cuda/gpu.sh build [FOLDER]           builds here what runs on a GPU elsewhere: all tests, the benchmark and the gloss classifier
# tests/cuda/gpu.sh run [FOLDER [RESULTS]]   runs them there, within ten minutes, and leaves what they print in RESULTS
# FOLDER (build/gpu of this checkout) has the programs and the data that they read, and is all that must be carried, with this checkout. There, the
# toolkit's libraries and compute-sanitizer are needed, and, to compare, a python3 with torch. ARCHITECTURES, as CMake's CUDA_ARCHITECTURES, is
# 90-real;80-virtual by default; 90-real alone is smaller. The status of `run` is that of its first part that fails.
set -euo pipefail
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
folder=$(realpath -m "${2:-$root/build/gpu}")
results=$(realpath -m "${3:-$root/build/gpu_results}")
cd "$root"
programs=(tests/cuda/rowan_tests_cuda tests/bench/rowan_bench_cuda examples/gloss_classifier)
status=0

build() {
    local program library
    cmake --preset cuda -B build/cuda_all -DROWAN_CUDA_ALL=ON -DROWAN_BENCH=ON -DROWAN_EXAMPLES=ON \
        "-DCMAKE_CUDA_ARCHITECTURES=${ARCHITECTURES:-90-real;80-virtual}" "-DCMAKE_CUDA_FLAGS=-Xfatbin -compress-all"
    cmake --build build/cuda_all --target "${programs[@]##*/}"
    mkdir -p "$folder/lib" "$folder/wordnet"
    for program in "${programs[@]}"; do
        strip -o "$folder/${program##*/}" "build/cuda_all/$program"
        while read -r library; do
            cp -L "$library" "$folder/lib"
        done < <(ldd "$folder/${program##*/}" | awk '$3 ~ /^\// { print $3 }' | grep -E 'nanopb|nccl|gomp|stdc\+\+|gcc_s' || true)
    done
    cp /usr/share/wordnet/data.* "$folder/wordnet"
    du -sh "$folder"
}

# part SECONDS NAME COMMAND...: what the command prints is in RESULTS/NAME, and its last line on the terminal.
part() {
    local ended=0 begin=$SECONDS
    timeout -s INT -k 5 "$1" "${@:3}" >"$results/$2" 2>&1 || ended=$?
    if ((status == 0)); then status=$ended; fi
    printf '%-14s status %3d, %3d s: %s\n' "$2" "$ended" $((SECONDS - begin)) "$(tail -n 1 "$results/$2")" | tee -a "$results/summary.txt"
}

# The tests of rows, sequences, sums and errors under each tool, all tools at once.
sanitize() {
    local files='[#merge],[#gather],[#scatter_add],[#row_plan],[#update_rows],[#optimizers],[#split],[#retain],[#unpack],[#padded],[#ids],[#teams],[#device]'
    local tool tools=(memcheck racecheck initcheck synccheck) ended=0 log
    log=$(mktemp -d)
    for tool in "${tools[@]}"; do
        { timeout -s INT -k 5 "$1" compute-sanitizer --tool "$tool" --error-exitcode 9 "$folder/rowan_tests_cuda" --filenames-as-tags "$files" >"$log/$tool" 2>&1 ||
            echo "$tool ends with status $?" >>"$log/failed"; } &
    done
    wait
    for tool in "${tools[@]}"; do
        echo "== $tool"
        cat "$log/$tool"
    done
    if [[ -e $log/failed ]]; then ended=1; fi
    cat "$log/failed" 2>/dev/null || echo "no tool has found anything"
    rm -r "$log"
    return $ended
}

machine() {
    nvcc --version || true
    lscpu | grep 'Model name'
    nvidia-smi
}

gloss() {
    local words=(--model gru --epochs 1 --wordnet "$folder/wordnet")
    "$folder/gloss_classifier" "${words[@]}" --device cuda --classify 'a large wild cat with stripes'
    python3 tests/bench/gloss.py "${words[@]}" --device cuda || true
    "$folder/gloss_classifier" "${words[@]}" --device cpu --classify 'a large wild cat with stripes'
}

run() {
    local library
    mkdir -p "$results"
    : >"$results/summary.txt"
    export PYTHONUNBUFFERED=1 LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} folder
    for library in libcudart.so.13 libcublas.so.13; do
        LD_LIBRARY_PATH+=:$(dirname "$(find -L /usr/local /opt -name "$library" 2>/dev/null | head -n 1)")
    done
    export -f machine sanitize gloss
    part 15 machine.txt bash -c machine
    part 140 tests.txt "$folder/rowan_tests_cuda"
    part 180 bench.md python3 tests/bench/cuda.py --rowan "$folder/rowan_bench_cuda" --rounds 2
    part 130 sanitizer.txt bash -c 'sanitize 115'
    part 80 gloss.txt bash -c gloss
    exit "$status"
}

case ${1:-} in
    build) build ;;
    run) run ;;
    *)
        sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}" >&2
        exit 2
        ;;
esac
