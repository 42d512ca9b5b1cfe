#!/usr/bin/env bash
# tests/consume.sh FOLDER [TEST]: in an empty environment, builds and runs the projects of examples/use in a copy of
# this project in FOLDER; tests the first error of searches and programs that must fail; links differently compiled
# files. Prints which tests pass, fail or are skipped. A test without a function here is a project of examples/use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
here=$root/tests/consume
mkdir -p "$1"
out=$(cd "$1" && pwd)
home=$out/home
rowan=$out/rowan
config=$home/.local/share/cmake/rowan/rowan-config.cmake # which the first test installs

# clean COMMAND...: runs the command in an environment without the variables that a search would use. Open MPI runs for root too.
clean() { env -i HOME="$home" PATH="$PATH" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"; }

# skip REASON: ends this test as skipped.
skip() {
    echo "SKIPPED consume, $test: $1"
    exit 77
}

# needs TOOL...
needs() {
    local tool
    for tool in "$@"; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
}

# says LOG SENTENCE: whether the first error of a compiler or of CMake, as one line, contains the sentence.
says() {
    local first
    first=$(awk '(/CMake Error/ && seen++) || (/^Call Stack|^-- Configuring/ && seen) { exit } seen' "$1")
    first=$(tr -s ' \n' ' ' <<<"${first:-$(grep -m 1 'error: ' "$1")}")
    if [[ $first != *"$2"* ]]; then
        printf 'expected: %s\ngot: %s\n' "$2" "$first"
        return 1
    fi
}

# Runs a project of examples/use, and compares the end of its output with its own app.out or the common one.
way() { # PROJECT [FILTER...]
    local use=$rowan/examples/use project=$rowan/examples/use/$1 expected filter=("${@:2}")
    expected=$project/app.out
    if [[ ! -f $expected ]]; then expected=$use/app.out; fi
    (cd "$project" && clean bash -euo pipefail run.sh) 2>&1 | tee "$out/$1.log"
    tail -n "$(wc -l <"$expected")" "$out/$1.log" | "${filter[@]:-cat}" | diff "$expected" -
}
pkg_config() {
    needs pkg-config
    way pkg_config
    local old=$out/pkg_config_old
    mkdir -p "$old"
    printf '%s\n' "Name: xtensor" "Description: an old one" "Version: 0.23.10" >"$old/xtensor.pc"
    if clean PKG_CONFIG_PATH="$old:$home/.local/share/pkgconfig" pkg-config --cflags rowan >"$old/log" 2>&1; then return 1; fi
    grep -F "'xtensor >= 0.24'" "$old/log"
}

# The project of the test `installed`, without OpenMP.
no_openmp() {
    local project=$rowan/examples/use/installed folder=$out/no_openmp
    grep -rhe -fopenmp "$project/build/CMakeFiles/app.dir/" || skip "OpenMP is not installed"
    clean cmake -S "$project" -B "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$home/.local" -DROWAN_OPENMP=OFF
    clean cmake --build "$folder"
    "$folder/app" | diff "$rowan/examples/use/app.out" -
    if grep -rhe -fopenmp "$folder/CMakeFiles/app.dir/" --include={flags.make,link.txt}; then return 1; fi
}
components() {
    grep -q '^set(installed "blas;nanopb' "$config" || skip "xtensor-blas or nanopb is not installed"
    way components
}

# Instead of a machine without MPI: g++ by itself, which has no mpi.h.
mpi() {
    clean cmake -S "$out/rowan" -B "$out/no_mpi" -DROWAN_TESTS=OFF -DROWAN_EXAMPLES=OFF -DROWAN_BENCH=ON -DMPI_CXX_COMPILER=g++
    grep '^set(installed ' "$out/no_mpi/rowan-config.cmake" >"$out/no_mpi/installed"
    if grep mpi "$out/no_mpi/installed"; then return 1; fi
    clean cmake --build "$out/no_mpi" --target help >"$out/no_mpi/targets"
    grep rowan_bench "$out/no_mpi/targets"
    if grep rowan_bench_mpi "$out/no_mpi/targets"; then return 1; fi
    grep -q '^set(installed ".*mpi' "$config" || skip "MPI is not installed"
    way mpi
    local option
    for option in -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON -DMPI_CXX_COMPILER=g++; do
        refused "REQUIRED;COMPONENTS;mpi" "rowan's component 'mpi' needs MPI (Debian: libopenmpi-dev or libmpich-dev)" "$option"
    done
}

# ask WHAT [ARGUMENT...]: find_package(rowan WHAT), with its output in $log.
ask() {
    local folder
    folder=$(mktemp -d "$out/ask.XXXXXX")
    log=$folder/log
    clean cmake -S "$here/asks" -B "$folder" -DCMAKE_PREFIX_PATH="$home/.local" -DASK="$1" "${@:2}" >"$log" 2>&1
}
refused() { # WHAT SENTENCE [ARGUMENT...]
    if ask "$1" "${@:3}"; then
        echo "find_package(rowan $1) with '${*:3}' is not refused"
        return 1
    fi
    says "$log" "$2"
}
accepted() { # WHAT LINE [ARGUMENT...]
    if ! ask "$1" "${@:3}" || ! grep -xF "$2" "$log"; then
        cat "$log"
        return 1
    fi
}
no_component() {
    refused "REQUIRED;COMPONENTS;cuda" "this rowan was installed without its component 'cuda': ROWAN_CUDA was OFF"
    refused "REQUIRED;COMPONENTS;gpu" "rowan has no component 'gpu', only rowan, blas, nanopb, mpi, cuda and compiled"
    refused "0.2;REQUIRED" 'compatible with requested version "0.2"'
    accepted "REQUIRED;COMPONENTS;rowan;OPTIONAL_COMPONENTS;cuda" "rowan 1, blas "
}
no_dependency() {
    local old=$out/old option
    mkdir -p "$old"
    touch "$old/xtensorConfig.cmake"
    echo 'set(PACKAGE_VERSION 0.23.10)' >"$old/xtensorConfigVersion.cmake"
    local xtensor="rowan needs xtensor 0.24 or newer (Debian: libxtensor-dev)" blas
    refused REQUIRED "$xtensor" -DCMAKE_DISABLE_FIND_PACKAGE_xtensor=ON
    refused REQUIRED "$xtensor" -Dxtensor_DIR="$old"
    accepted QUIET "rowan 0, blas " -DCMAKE_DISABLE_FIND_PACKAGE_xtensor=ON
    if grep -q '^set(installed "blas' "$config"; then
        blas="rowan's component 'blas' needs xtensor-blas and a BLAS (Debian: libxtensor-blas-dev libopenblas-dev)"
        accepted "REQUIRED;COMPONENTS;blas" "rowan 1, blas TRUE"
        refused "REQUIRED;COMPONENTS;blas" "$blas: xtensor-blas was not found" -DCMAKE_DISABLE_FIND_PACKAGE_xtensor-blas=ON
        refused "REQUIRED;COMPONENTS;blas" "$blas: a BLAS was not found" -DBLA_VENDOR=none
        for option in -DCMAKE_DISABLE_FIND_PACKAGE_xtensor-blas=ON -DBLA_VENDOR=none; do
            accepted "0.1;REQUIRED;OPTIONAL_COMPONENTS;blas" "rowan 1, blas FALSE" "$option"
        done
        clean cmake -S "$out/rowan" -B "$out/no_blas" -DROWAN_TESTS=OFF -DROWAN_EXAMPLES=OFF -DBLA_VENDOR=none
        grep -E '^set\(installed "(nanopb)?;?(mpi)?"\)$' "$out/no_blas/rowan-config.cmake"
        clean cmake --install "$out/no_blas" --prefix "$out/no_blas/prefix" >"$out/no_blas/log"
        grep -F "rowan is installed without its component 'blas': it ${blas#*\'blas\' }: a BLAS was not found" "$out/no_blas/log"
        grep -F "rowan is installed without its component 'cuda': ROWAN_CUDA was OFF" "$out/no_blas/log"
        refused "REQUIRED;COMPONENTS;blas" "installed without its component 'blas': it ${blas#*\'blas\' }: a BLAS was not found" \
            -DCMAKE_PREFIX_PATH="$out/no_blas/prefix"
    fi
    for option in -DCMAKE_DISABLE_FIND_PACKAGE_xtensor=ON -Dxtensor_DIR="$old"; do
        clean cmake -S "$out/rowan" -B "$out/no_xtensor" "$option" >"$out/no_xtensor.log" 2>&1 && return 1
        says "$out/no_xtensor.log" "$xtensor"
    done
}

# refuses COMPILER SENTENCE HEADER ARGUMENT...: a program with the header must not compile; its first error is SENTENCE.
refuses() {
    if clean "$1" -fsyntax-only -x c++ - "${@:4}" -I include <<<"#include <rowan/$3>" >"$out/$test.log" 2>&1; then
        echo "<rowan/$3> compiles"
        return 1
    fi
    says "$out/$test.log" "$2"
}
old_standard() { # COMPILER
    needs "$1"
    local header
    for header in rowan.hpp core/error.hpp sparse.hpp sequence/lod.hpp core/fields.hpp layer/fc.hpp io.hpp; do
        refuses "$1" "rowan needs C++20: compile with -std=c++20 or newer" "$header" -std=c++17
    done
}
gcc_17() { old_standard g++; }
clang_17() { old_standard clang++-16; }

# An old xtensor; then the compiler's own folders, and instead of /usr/include a folder that lacks it.
no_header() {
    local include=() old=$out/include/old compiler
    mkdir -p "$old/xtensor"
    printf '#define XTENSOR_VERSION_%s\n' "MAJOR 0" "MINOR 23" "PATCH 10" >"$old/xtensor/xtensor_config.hpp"
    for compiler in g++ clang++-16; do
        command -v "$compiler" >/dev/null || continue
        refuses "$compiler" "rowan needs xtensor 0.24 or newer: this one is too old" sparse.hpp -std=c++20 -I "$old"
        mkdir -p "$out/include/all"
        ln -sfn /usr/include/* "$out/include/all"
        rm "$out/include/all/xtensor"
        mapfile -t include < <("$compiler" -E -v -x c++ /dev/null 2>&1 | sed -n '/^#include </,/^End/{s/^ //p}' |
            sed "s|^/usr/include\$|$out/include/all|; s/^/-isystem/")
        refuses "$compiler" "rowan needs xtensor 0.24 or newer (Debian: libxtensor-dev)" sparse.hpp -std=c++20 -nostdinc "${include[@]}"
    done
}

# One of two files is compiled with OpenMP and the other without, in both orders; a third file contains one function of
# rowan, which the linker may choose.
two_files() { # FLAG [FLAG OF THE SECOND]
    local folder=$out/two_files$1 object flags order
    mkdir -p "$folder"
    while read -r object flags; do
        clean g++ -std=c++20 "$1" $flags -I include -c -o "$folder/$object.o" "$here/two_files/${object%%_*}.cpp"
    done <<<"a -fopenmp
b ${2-}
c_with -fopenmp
c_without"
    for order in "a b" "b a" "c_with b a" "c_without a b"; do
        echo "$1, $order"
        (cd "$folder" && clean g++ -fopenmp -o app $(printf '%s.o ' $order) && clean ./app)
    done
}
two_files_O0() { two_files -O0; }
two_files_O2() { two_files -O2 -march=native; }

# A file for the host and one for the GPU, each with its own Thrust: no Thrust function may be in both.
cuda() {
    needs nvcc
    home=$out/home_cuda
    rowan=$out/rowan_cuda
    mkdir -p "$home"
    bash tests/consume/copy.sh "$rowan"
    local none='^CudaError: .*cudaError(NoDevice|InsufficientDriver),.*'
    if nvidia-smi -L; then
        way cuda
    else
        way cuda sed -E "s/$none/the GPU merges/"
        if grep -E "$none" "$out/cuda.log"; then echo "SKIPPED consume, cuda, what the GPU merges: no CUDA device"; fi
    fi
    local object objects=("$rowan"/examples/use/cuda/build/CMakeFiles/app.dir/*.o) both=$out/cuda/both
    mkdir -p "$out/cuda"
    for object in "${objects[@]}"; do
        nm -C --defined-only "$object" | awk '$2 ~ /[uVW]/' | cut -c 20- | sort -u >"$object.names"
        grep -q 'thrust::' "$object.names"
    done
    comm -12 "${objects[@]/%/.names}" >"$both"
    if grep -E 'thrust::|cub::' "$both"; then return 1; fi

    # A toolkit that is too old.
    local old=$out/cuda/old sentence="needs the CUDA toolkit 13 or newer" toolkit
    toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
    mkdir -p "$old/bin"
    ln -s "$toolkit"/* "$old" 2>/dev/null || true # all but bin, which is there
    printf '#!/bin/sh\necho Cuda compilation tools, release 12.9, V12.9.86\n' >"$old/bin/nvcc"
    chmod +x "$old/bin/nvcc"
    refused "REQUIRED;COMPONENTS;cuda" "rowan's component 'cuda' $sentence" -DCUDAToolkit_ROOT="$old"
    if clean cmake -S "$out/rowan" -B "$old/build" -DROWAN_CUDA=ON -DCUDAToolkit_ROOT="$old" >"$old/log" 2>&1; then return 1; fi
    says "$old/log" "rowan::cuda $sentence"
}

# The compiled library, found by CMake and by pkg-config: the program's object files must not contain its definitions,
# and a file without the library must not link. In the nightly check its source, too, for builds without CMake.
compiled() {
    needs pkg-config nm
    home=$out/home_compiled
    rowan=$out/rowan_compiled
    bash tests/consume/copy.sh "$rowan"
    local folder=$out/compiled prefix=$home/.local
    mkdir -p "$folder" "$home"
    sed -i 's/-DCMAKE_BUILD_TYPE=Release$/-DCMAKE_CXX_FLAGS=-O0/' "$rowan/examples/use/compiled/run.sh" # the library, in less time
    way compiled
    "$rowan/examples/use/compiled/build/net" | diff examples/07_plain_network.out -
    export PKG_CONFIG_PATH=$prefix/share/pkgconfig
    g++ -std=c++20 $(pkg-config --cflags rowan-compiled) examples/use/app.cpp -o "$folder/app" $(pkg-config --libs rowan-compiled)
    "$folder/app" | diff examples/use/app.out -

    g++ -std=c++20 $(pkg-config --cflags rowan) -c examples/01_sparse_sgd.cpp -o "$folder/header_only.o"
    g++ -std=c++20 $(pkg-config --cflags rowan-compiled) -O2 -c examples/07_plain_network.cpp -o "$folder/net.o"
    if g++ "$folder"/{header_only,net}.o $(pkg-config --libs rowan-compiled) -o "$folder/both" >"$folder/both.log" 2>&1; then return 1; fi
    grep -F rowan_files_with_and_without_ROWAN_COMPILED "$folder/both.log"
    g++ -std=c++20 $(pkg-config --cflags rowan) -D_GLIBCXX_DEBUG -include rowan/core/error.hpp -x c++ -c /dev/null -o "$folder/debug.o"
    if g++ "$folder"/{header_only,debug}.o -o "$folder/both" >"$folder/both.log" 2>&1; then return 1; fi
    grep -F rowan_files_with_and_without_GLIBCXX_DEBUG "$folder/both.log"
    g++ -std=c++20 $(pkg-config --cflags rowan-compiled) -include rowan/io/desc.hpp -x c++ -c /dev/null -o "$folder/io.o"
    if g++ "$folder"/{net,io}.o -o "$folder/both" >"$folder/both.log" 2>&1; then return 1; fi
    grep -F rowan_needs_compiled_o__see_README "$folder/both.log"
    grep -F rowan_needs_io_o__see_README "$folder/both.log"

    nm -C --defined-only "$folder/net.o" >"$folder/net.symbols"
    if grep -E 'kernel_of<|run_fixed|run_variadic|Holder<|AnyTrainer::|TrainerStep|TrainLoop|NetPredictor::|settings_of|GradientMaker|append_gradients|merge' "$folder/net.symbols"; then return 1; fi
    g++ -std=c++20 $(pkg-config --cflags rowan-compiled) tests/cost/infer.cpp -o "$folder/infer" $(pkg-config --libs rowan-compiled) -Wl,--gc-sections
    "$folder/infer"
    nm -C "$folder/infer" >"$folder/infer.symbols" # it only runs a net: no gradient, no optimizer
    if grep -E '_grad_op|GradientMaker|AnyOptimizer|ParameterUpdate|LaneRule' "$folder/infer.symbols"; then return 1; fi
    clean cmake -S "$rowan/examples/use/compiled" -B "$folder/no_openmp" -DCMAKE_PREFIX_PATH="$prefix" -DROWAN_OPENMP=OFF
    clean cmake --build "$folder/no_openmp" --target app
    "$folder/no_openmp/app" | diff examples/use/app.out -

    [[ -n ${ROWAN_NIGHTLY-} ]] || return 0 # it takes three minutes on one core
    g++ -std=c++20 -fopenmp -DROWAN_COMPILED -I "$prefix/include" "$prefix/include/rowan/compiled.cpp" examples/use/app.cpp -o "$folder/one_source"
    "$folder/one_source" | diff examples/use/app.out -
}

if (($# == 2)); then
    test=$2
    if declare -F "$test" >/dev/null; then "$test"; else way "$test"; fi
    exit
fi
find "$out" -mindepth 1 -maxdepth 1 -exec rm -rf {} +
mkdir -p "$home"
bash tests/consume/copy.sh "$rowan"
export out
one() { # TEST
    local status=0
    bash tests/consume.sh "$out" "$1" >"$out/$1.txt" 2>&1 || status=$?
    grep '^SKIPPED ' "$out/$1.txt" || true
    case $status in
        0) echo "passed $1" ;;
        77) ;;
        *)
            echo "FAILED consume, $1"
            tail -n 30 "$out/$1.txt"
            ;;
    esac
}
export -f one
{
    one installed
    printf '%s\n' cuda compiled two_files_O0 two_files_O2 subdirectory fetch_content no_build_system single_header pkg_config no_openmp \
        components mpi no_component no_dependency no_header gcc_17 clang_17 | xargs -P "$(nproc)" -I{} bash -c 'one {}'
} | tee "$out/results.txt"
if grep -q '^FAILED ' "$out/results.txt"; then exit 1; fi
