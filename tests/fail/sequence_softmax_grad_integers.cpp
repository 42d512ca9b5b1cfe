// expect: rowan::sequence_softmax_grad: out must have a floating-point type
#include <rowan/sequence/sequence_softmax.hpp>

#include <cstdint>

using number = std::uint8_t;

rowan::LoDTensor<number> grad(rowan::LoDTensor<number> const& out, rowan::Tensor<number> const& out_grad) {
    return rowan::sequence_softmax_grad(out, out_grad);
}
