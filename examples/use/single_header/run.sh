# The single header is rowan/rowan.hpp, without what needs nanopb or Thrust.
mkdir -p build
sed 's|^#include <rowan/.*|#include <rowan/rowan.hpp>|' ../app.cpp >build/app.cpp
g++ -std=c++20 -O2 -fopenmp -I ../../../single_include build/app.cpp -o build/app
build/app
