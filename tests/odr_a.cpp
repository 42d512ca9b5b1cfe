// tests/odr_a.cpp: one of two files that include everything and are linked into one program.
#include <rowan/own_operator.hpp> // adds nothing to headers alone, and to the single header
#include <rowan/rowan.hpp>
#ifdef WITH_NANOPB
#include <rowan/io.hpp>
#endif

#include <iostream>

rowan::Tensor<float> other_file();

int main() {
    rowan::Tensor<float> param{{1, 1}, {1, 1}, {1, 1}};
    rowan::sgd(param, rowan::SelectedRows<float>(3, {2, 0, 2}, {{1, 2}, {3, 4}, {1, 2}}), 0.5f);
    if (rowan::gather(param, {0, 1, 2}) == other_file()) return 0;
    std::cerr << "the same call gave different bits in two files\n";
    return 1;
}
