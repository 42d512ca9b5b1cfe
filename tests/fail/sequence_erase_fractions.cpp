// expect: rowan::sequence_erase: tokens are integers, x must hold integers
#include <rowan/sequence/sequence_erase.hpp>

#include <cstdint>

#ifdef ROWAN_VALID_TWIN
using token = std::int32_t;
#else
using token = float;
#endif

rowan::LoDTensor<token> without_ones(rowan::LoDTensor<token> const& x) {
    return rowan::sequence_erase(x, {1});
}
