# tests/packages.sh: installs the Debian packages that rowan needs. Read by run.sh and by examples/demo.sh.

packages_build=(cmake ninja-build g++ libxtensor-dev libnanopb-dev)
packages_demo=("${packages_build[@]}" libcli11-dev libutfcpp-dev zlib1g-dev wordnet-base)
packages_texts=(bible-kjv)
packages_quick=("${packages_demo[@]}" python3 catch2 librapidcheck-dev)
packages_test=("${packages_quick[@]}" libxtensor-blas-dev libopenblas-dev nanopb protobuf-compiler python3-protobuf python3-numpy python3-dev
    pybind11-dev libthrust-dev libtbb-dev clang-16 libclang-rt-16-dev libomp-16-dev ccache time pkg-config doxygen
    libopenmpi-dev openmpi-bin libmpich-dev mpich)

# install_missing PACKAGE...: installs those that are missing. Fails with a sentence when it cannot.
install_missing() {
    local package missing=() as_root=()
    command -v dpkg-query >/dev/null || return 0  # not a Debian: what is missing will be named by what needs it
    for package in "$@"; do
        if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then missing+=("$package"); fi
    done
    if ((${#missing[@]} == 0)); then return 0; fi
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            echo "Not installed, and installing needs root or sudo: ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "Installing ${missing[*]}" >&2
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get)
    if ! { "${as_root[@]}" update -qq && "${as_root[@]}" install -y -qq --no-install-recommends "${missing[@]}"; } >&2; then
        echo "apt-get could not install: ${missing[*]}" >&2
        return 1
    fi
}
