// tests/cuda/bits.cu: host code that nvcc compiles has the bits of every other compiler.
#include "sparse/sparse_bits.cpp"
