g++ -std=c++20 -O2 -fopenmp -I rowan/single_include app.cpp -o app
./app
