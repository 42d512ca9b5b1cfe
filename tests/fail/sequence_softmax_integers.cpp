// expect: rowan::sequence_softmax: x must have a floating-point type: convert it
#include <rowan/sequence/sequence_softmax.hpp>

#include <cstdint>

using number = std::int64_t;

rowan::LoDTensor<number> weights(rowan::LoDTensor<number> const& x) {
    return rowan::sequence_softmax(x);
}
