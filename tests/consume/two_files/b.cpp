// tests/consume/two_files/b.cpp: the other file.
#include "bits.hpp"

std::string bits_of_b(int threads) { return bits(threads); }
