# With the CUDA toolkit 13.
cmake -S ../../.. -B build/rowan -DROWAN_TESTS=OFF -DROWAN_EXAMPLES=OFF -DROWAN_CUDA=ON
cmake --install build/rowan --prefix "$HOME/.local"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$HOME/.local" -DCMAKE_CUDA_ARCHITECTURES=80-virtual
cmake --build build
build/app
