# Builds and installs the compiled library, in two minutes, and links two programs to it.
cmake -S ../../.. -B build/rowan -DROWAN_TESTS=OFF -DROWAN_EXAMPLES=OFF -DROWAN_COMPILED=ON -DCMAKE_BUILD_TYPE=Release
cmake --build build/rowan -j "$(nproc)"
cmake --install build/rowan --prefix "$HOME/.local"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$HOME/.local"
cmake --build build
build/net
build/app
