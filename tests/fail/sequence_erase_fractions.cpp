// expect: rowan::sequence_erase: tokens are integers, x must hold integers
#include <rowan/sequence/sequence_erase.hpp>

#include <cstdint>

using token = float;

rowan::LoDTensor<token> without_ones(rowan::LoDTensor<token> const& x) {
    return rowan::sequence_erase(x, {1});
}
