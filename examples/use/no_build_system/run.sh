mkdir -p build
g++ -std=c++20 -O2 -fopenmp -I ../../../include ../app.cpp -o build/app
build/app
