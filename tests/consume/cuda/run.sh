cmake -S rowan -B rowan/build -DROWAN_TESTS=OFF -DROWAN_EXAMPLES=OFF -DROWAN_CUDA=ON
cmake --install rowan/build --prefix "$HOME/.local"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$HOME/.local" -DCMAKE_CUDA_ARCHITECTURES=80-virtual
cmake --build build
build/app
