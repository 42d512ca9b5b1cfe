// tests/cuda/bits.cu: what nvcc compiles for the processor gives the bits of every other compiler.
#include "sparse/sparse_bits.cpp"
