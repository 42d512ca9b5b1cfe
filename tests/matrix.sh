# tests/matrix.sh: programs that use all parts except devices, with each compiler and version of the libraries. Read by
# run.sh. ROWAN_MATRIX: folders with other installed versions, separated by colons; `a;b` are two folders used together.

# matrix_one COMPILER FOLDER BUILD: builds and runs with a compiler and the versions in a folder; adds a row to `rows`.
matrix_one() {
    local build=$3 log=$3.log said
    mkdir -p build/matrix
    if (
        cmake --fresh -S . -B "$build" -G Ninja --log-level=NOTICE -DCMAKE_CXX_COMPILER="$1" -DCMAKE_PREFIX_PATH="$2" \
            -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS='-g0 -Wall -Wextra -Wconversion -Wpedantic' -DCMAKE_COMPILE_WARNING_AS_ERROR=ON &&
            cmake --build "$build" -j "$jobs" --target rowan_tests_matrix "${examples[@]}" &&
            "$build/tests/rowan_tests_matrix" &&
            for example in "${examples[@]}"; do
                (cd "$build" && "examples/$example") >"$build.out" && diff "$build.out" "examples/$example.out" || exit 1
            done
    ) >"$log" 2>&1; then
        said="$(sed -n 's/^versions: //p' "$log")"
        count "matrix" 0 1
    else
        said="FAILED with ${2:-the libraries of this machine}"
        grep -E 'error:|^CMake Error' "$log" | head -n 20 || tail -n 20 "$log"
        count "matrix, $1: $said" 1 1
    fi
    rows+=("$(printf '%-10s  %s' "$1" "$said")")
}

matrix() {
    local compiler folder one entries parts folders=("") rows=() start=$SECONDS number wanted
    local examples=(03_own_rule 05_recurrent_loop 10_recurrent_network 11_model_file)
    has matrix cmake ninja || return 0
    echo "== matrix"
    IFS=: read -ra entries <<<"${ROWAN_MATRIX-}"
    for folder in "${entries[@]}"; do
        IFS=';' read -ra parts <<<"$folder"
        for one in "${parts[@]}"; do
            if [[ ! -d $one ]]; then
                count "matrix: ROWAN_MATRIX names '$one', which is no folder" 1 1
                continue 2
            fi
        done
        folders+=("$folder")
    done
    for compiler in g++-12 clang++-16 clang++-19; do
        has "matrix, $compiler" "$compiler" || continue
        number=0
        for folder in "${folders[@]}"; do
            if [[ $compiler == clang++-16 && -z $folder && $checks == *" sanitize "* ]]; then
                rows+=("clang++-16  by the check sanitize")
                continue
            fi
            matrix_one "$compiler" "$folder" "build/matrix/$compiler-$((number++))"
        done
    done
    if has "matrix, nvcc" nvcc; then
        rows+=("nvcc        $(nvcc --version | sed -n 's/^Cuda.*release \(.*\),.*/\1/p'), by the check cuda")
    fi
    printf '%s\n' "${rows[@]}"
    for wanted in "xtensor 0.24" "xtensor 0.25" "xtensor 0.26" "xtensor 0.27" "Catch2 2" "Catch2 3" "nanopb in <pb.h>" \
        "nanopb in <nanopb/pb.h>"; do
        if [[ "${rows[*]}" != *"$wanted"* ]]; then skip "matrix, $wanted" "not installed, nor in a folder of ROWAN_MATRIX"; fi
    done
    echo "== matrix took $((SECONDS - start)) s"
}
