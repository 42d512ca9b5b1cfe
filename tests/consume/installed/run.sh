cmake -S rowan -B rowan/build -DROWAN_TESTS=OFF -DROWAN_EXAMPLES=OFF
cmake --install rowan/build --prefix "$HOME/.local"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$HOME/.local"
cmake --build build
build/app
