# tests/consume/conan/check.sh: Conan creates the package without a remote, and two projects use it. Read by run.sh.

conan_version=2.34.0

conan() {
    has conan g++ cmake dpkg-query || return 0
    local folder=$PWD/build/conan tool=$PWD/build/conan/conan log package start=$SECONDS
    if [[ $("$tool/bin/conan" --version 2>/dev/null) != *" $conan_version" ]]; then
        install_missing python3-venv || true
        mkdir -p "$folder"
        if ! { /usr/bin/python3 -m venv "$tool" && "$tool/bin/pip" install -q "conan==$conan_version"; }; then
            skip conan "Conan $conan_version cannot be installed"
            return 0
        fi
    fi
    for package in libxtensor-dev libxtensor-blas-dev libnanopb-dev libopenmpi-dev; do
        if ! dpkg-query -W "$package" >/dev/null 2>&1; then
            skip conan "$package is not installed"
            return 0
        fi
    done
    find "$folder" -mindepth 1 -maxdepth 1 ! -name conan -exec rm -rf {} + # Conan stays
    mkdir -p "$folder/other/include/rowan"
    bash tests/consume/copy.sh "$folder/rowan"
    echo "== conan"

    # expect NAME TEXT SCRIPT: runs the lines of SCRIPT until one fails; a line of output must match the pattern TEXT.
    expect() {
        log="$folder/$1.log"
        (cd "$folder" && CONAN_HOME=$folder/home PATH=/usr/bin:$tool/bin:$PATH bash -e) <<<"$3" >"$log" 2>&1 || true
        if grep -qxE -- "$2" "$log"; then
            count "conan, $1" 0 1
        else
            tail -n 30 "$log"
            count "conan, $1: no line is '$2'" 1 1
        fi
    }
    local create='conan create rowan -nr -pr rowan/examples/use/conan/debian.profile -s build_type=Debug'

    expect "the project of the examples" "6 bytes say f32\[3, 2\]; the last row is 0.5 0" \
        "cd rowan/examples/use/conan && sed /bin.pip/d\;/venv/d run.sh | bash -e" # Conan is installed
    expect "no options" "rows 0 2, steps 2, with openmp" "$create"
    expect "options" "rows 0 2, steps 2, with blas nanopb mpi" \
        "$create -o 'rowan/*:openmp=False' -o 'rowan/*:blas=True' -o 'rowan/*:nanopb=True' -o 'rowan/*:mpi=True'"
    expect "header_only=False" "rows 0 2, steps 2, with openmp compiled" "$create -o 'rowan/*:header_only=False'"
    if has "conan, cuda" nvcc; then
        expect "cuda" "rows 0 2, steps 2, with openmp cuda" "$create -o 'rowan/*:cuda=True'"
    fi
    expect "a component that the package lacks" "  this rowan was installed without its component 'nanopb':.*" \
        "cd rowan/examples/use/conan
        sed -i s/nanopb=True/nanopb=False/ conanfile.txt
        conan install . -nr -pr debian.profile -of without
        cmake -S . -B without -DCMAKE_TOOLCHAIN_FILE=conan_toolchain.cmake -DCMAKE_BUILD_TYPE=Release"
    expect "C++17" "rowan/.*: Invalid: Current cppstd \(17\) is lower than the required C\+\+ standard \(20\)\." \
        "$create -s compiler.cppstd=17"
    expect "the version is that of version.hpp" "version: 7.1.0" \
        "cp rowan/conanfile.py other
        sed 's/\(_MAJOR\) .*/\1 7/' rowan/include/rowan/version.hpp >other/include/rowan/version.hpp
        conan inspect other"
    echo "== conan took $((SECONDS - start)) s"
}
