g++ -std=c++20 -O2 -fopenmp -I rowan/include app.cpp -o app
./app
