// expect: rowan computes the same bits on every machine: compile it without -ffast-math
// flags: -ffast-math
#include <rowan/sparse.hpp>
