// rowan/thrust/core/detail/read_back_space.hpp: ReadBackSpace, memory in which the host receives what it reads back.
#pragma once

#include <rowan/thrust/core/detail/failed_call.hpp>
#include <rowan/thrust/core/detail/system.hpp>

#include <cstddef>
#include <initializer_list>

namespace rowan::inline v0::detail {

/// Pinned memory of a stream, which receives its failure and small numbers: copies to it return at once.
struct ReadBackSpace {
    FailedCall failed;
    std::byte numbers[256 - sizeof(FailedCall)];

    /// Calls f(copy, place) for each copy that is not empty. The place is in `numbers`, or nullptr if there is no room.
    template <class F>
    void each(std::initializer_list<HostCopy> copies, F const& f) {
        std::size_t used = 0;
        for (HostCopy const& c : copies) {
            bool const fits = c.bytes <= sizeof numbers - used;
            if (c.bytes != 0) f(c, fits ? numbers + used : nullptr);
            if (fits) used += c.bytes;
        }
    }
};

}  // namespace rowan::inline v0::detail
