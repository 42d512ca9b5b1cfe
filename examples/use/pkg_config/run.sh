# After the project `installed`. apt install pkg-config
mkdir -p build
export PKG_CONFIG_PATH="$HOME/.local/share/pkgconfig"
g++ -std=c++20 -O2 $(pkg-config --cflags rowan) ../app.cpp -o build/app $(pkg-config --libs rowan)
build/app
