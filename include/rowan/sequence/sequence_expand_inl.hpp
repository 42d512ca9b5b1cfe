// rowan/sequence/sequence_expand_inl.hpp: definitions of rowan/sequence/sequence_expand.hpp.
#pragma once

#include <rowan/sequence/sequence_expand.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <limits>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::vector<std::int64_t> Expansion::sums(std::vector<std::int64_t> const& at) const {
    constexpr std::int64_t limit = std::numeric_limits<std::ptrdiff_t>::max() / 8;
    std::vector<std::int64_t> result{0};
    result.reserve(at.size());
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
        std::int64_t const one = at[i + 1] - at[i];
        std::int64_t const k = times[i + 1] - times[i];
        if (one != 0 && k > (limit - result.back()) / one) {
            throw ShapeError("x[" + std::to_string(i) + "] expanded",
                             std::to_string(one) + " rows or sequences " + std::to_string(k) + " times",
                             "at most 2^60 in all");
        }
        result.push_back(result.back() + k * one);
    }
    return result;
}

}  // namespace rowan::inline v0::detail

#endif
