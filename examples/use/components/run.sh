# After the project `installed`. apt install libxtensor-blas-dev libopenblas-dev libnanopb-dev (before it)
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$HOME/.local"
cmake --build build
build/app
