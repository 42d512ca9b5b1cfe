export PKG_CONFIG_PATH="$HOME/.local/share/pkgconfig"
g++ -std=c++20 -O2 $(pkg-config --cflags rowan) app.cpp -o app $(pkg-config --libs rowan)
./app
