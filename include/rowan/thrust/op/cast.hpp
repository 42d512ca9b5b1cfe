// rowan/thrust/op/cast.hpp: the range check of cast on a device.
#pragma once

#include <rowan/op/elementwise/cast.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/detail/fold.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// i if To cannot hold the whole part of element i, otherwise n.
template <class To, class From>
struct UnfitAt {
    From const* from;
    std::uint64_t n;
    ROWAN_HD std::uint64_t operator()(std::size_t i) const {
        return holds_whole_part<To>(dtype<From>::widen(from[i])) ? n : i;
    }
};

struct LeastOf {
    ROWAN_HD std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return b < a ? b : a; }
};

template <class System>
struct CastCheck<ThrustDevice<System>> {
    /// errors   ValueError for the first element whose whole part To cannot hold; those of synchronize
    template <class To, class From>
    static void check(ThrustDevice<System> const& exec, std::size_t n, From const* from) {
        if (n == 0) return;
        Fold<std::uint64_t, System> const least(exec, n, UnfitAt<To, From>{from, n}, LeastOf{});
        std::uint64_t first = n;
        read_back(exec, {{&first, least.result(), sizeof first}});
        if (first == n) return;
        From x;
        read_back(exec, {{&x, from + first, sizeof x}});
        refuse_cast<To>(static_cast<std::size_t>(first), x);
    }
};

}  // namespace rowan::inline v0::detail
