// expect: rowan::sequence_softmax_grad: integers have no softmax
#include <rowan/sequence/sequence_softmax.hpp>

#include <cstdint>

#ifdef ROWAN_VALID_TWIN
using number = double;
#else
using number = std::uint8_t;
#endif

rowan::LoDTensor<number> grad(rowan::LoDTensor<number> const& out, rowan::Tensor<number> const& out_grad) {
    return rowan::sequence_softmax_grad(out, out_grad);
}
