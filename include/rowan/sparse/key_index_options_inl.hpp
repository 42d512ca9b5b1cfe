// rowan/sparse/key_index_options_inl.hpp: definitions of rowan/sparse/key_index_options.hpp.
#pragma once

#include <rowan/sparse/key_index_options.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <random>

namespace rowan::inline v0 {

ROWAN_FUNCTION std::uint64_t random_hash_seed() {
    std::random_device draw;  // numbers of 32 bits
    std::uint64_t const upper = draw();
    return upper << 32 | draw();
}

}  // namespace rowan::inline v0

#endif
