# Conan 2 over Debian's packages. apt install libnanopb-dev python3-venv
python3 -m venv build/conan
build/conan/bin/pip install 'conan>=2'
export PATH="$PWD/build/conan/bin:$PATH"
conan profile detect --exist-ok
conan create ../../.. -pr debian.profile -o 'rowan/*:nanopb=True' -nr
conan install . -pr debian.profile -of build -nr
cmake -S . -B build -DCMAKE_TOOLCHAIN_FILE=conan_toolchain.cmake -DCMAKE_BUILD_TYPE=Release
cmake --build build
build/app
