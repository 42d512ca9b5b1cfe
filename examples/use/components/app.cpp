// Multiplies matrices with the BLAS, and encodes a descriptor with nanopb.
#include <rowan/io/message.hpp>
#include <rowan/io/tensor_desc.hpp>
#include <rowan/op/matrix/matmul.hpp>

#include <iostream>

#ifndef ROWAN_BLAS
#error "rowan::blas must say so"
#endif

int main() {
    rowan::Tensor<float> const a{{1, 2}, {3, 4}}, b{{1, 0}, {10, 1}};
    for (float x : rowan::matmul(a, b)) std::cout << x << ' ';
    rowan::TensorDesc const desc{.dims = {rowan::UNK, 640, 480}};
    auto const bytes = rowan::encode(desc);
    std::cout << "in " << bytes.size() << " bytes "
              << (rowan::decode<rowan::TensorDesc>(bytes) == desc ? "the same" : "another") << '\n';
}
