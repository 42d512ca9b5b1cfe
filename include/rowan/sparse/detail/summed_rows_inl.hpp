// rowan/sparse/detail/summed_rows_inl.hpp: definitions of rowan/sparse/detail/summed_rows.hpp.
#pragma once

#include <rowan/sparse/detail/summed_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>

#include <span>

namespace rowan::inline v0::detail {

struct IdsAtMost {
    std::uint8_t* times;  // of each row
    std::size_t most;

    template <class I>
    bool operator()(std::span<I const> list) const {
        for (I const row : list) {
            if (++times[static_cast<std::size_t>(row)] > most) return false;
        }
        return true;
    }
};

ROWAN_CALLED_FUNCTION bool at_most(Ids<> const& ids, std::int64_t height, std::size_t most) {
    if (ids.size() <= most) return true;
    Buffer<std::uint8_t> times(static_cast<std::size_t>(height), std::uint8_t{0});
    return ids.visit(IdsAtMost{times.data(), most});
}

}  // namespace rowan::inline v0::detail

#endif
