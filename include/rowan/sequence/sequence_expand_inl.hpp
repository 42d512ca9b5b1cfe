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
            throw ShapeError({"x[", i, "] expanded"}, {one, " rows or sequences ", k, " times"}, "at most 2^60 in all");
        }
        result.push_back(result.back() + k * one);
    }
    return result;
}

ROWAN_FUNCTION void bad_instances(std::size_t size, std::size_t expected, std::size_t level, std::size_t levels,
                                  std::size_t rows) {
    std::string text = std::to_string(expected).append(", the number of sequences of level ") + std::to_string(level);
    if (levels > 0 && rows == expected) {
        text.append(": x has ").append(std::to_string(levels)).append(levels == 1 ? " level" : " levels");
        text.append(", so its ").append(std::to_string(size)).append(" sequences count, not its ");
        text.append(std::to_string(rows)).append(" rows: use drop_levels");
    }
    throw ShapeError("x.size()", size, text);
}

}  // namespace rowan::inline v0::detail

#endif
