# Installs rowan to ~/.local and finds it there.
cmake -S ../../.. -B build/rowan -DROWAN_TESTS=OFF -DROWAN_EXAMPLES=OFF
cmake --install build/rowan --prefix "$HOME/.local"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$HOME/.local"
cmake --build build
build/app
