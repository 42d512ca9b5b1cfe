// rowan/compiled.cpp: the compiled library as a single source, without what needs nanopb (rowan/compiled/io.cpp).
// For builds without CMake:
//     g++ -std=c++20 -O2 -fopenmp -DROWAN_COMPILED -I include include/rowan/compiled.cpp app.cpp
#define ROWAN_COMPILING_OPERATORS
#include <rowan/compiled/containers.cpp>
#include <rowan/compiled/gradients.cpp>
#include <rowan/compiled/gradients_double.cpp>
#include <rowan/compiled/gradients_float.cpp>
#include <rowan/compiled/nets.cpp>
#include <rowan/compiled/operators_double.cpp>
#include <rowan/compiled/operators_float.cpp>
#include <rowan/compiled/operators_integer.cpp>
#include <rowan/compiled/operators_sampled.cpp>
#include <rowan/compiled/training.cpp>
