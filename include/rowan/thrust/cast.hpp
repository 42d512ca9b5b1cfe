// rowan/thrust/cast.hpp: which numbers a cast on a device refuses.
#pragma once

#include <rowan/op/cast.hpp>
#include <rowan/thrust/elementwise.hpp>
#include <rowan/thrust/synchronize.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0::detail {

/// Of 64 elements the first that To does not hold, else n.
template <class To, class From>
struct FirstUnfit {
    From const* from;
    std::uint64_t* first;
    std::size_t n;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t found = n;
        for (std::size_t i = k * 64; i < n && i < k * 64 + 64 && found == n; ++i) {
            if (!holds_whole_part<To>(dtype<From>::widen(from[i]))) found = i;
        }
        first[k] = found;
    }
};

/// The least of 64 numbers.
struct LeastOf {
    std::uint64_t const* from;
    std::uint64_t* to;
    std::size_t n;

    ROWAN_HD void operator()(std::size_t k) const {
        std::uint64_t least = from[k * 64];
        for (std::size_t i = k * 64; i < n && i < k * 64 + 64; ++i) least = from[i] < least ? from[i] : least;
        to[k] = least;
    }
};

template <class System>
struct CastCheck<ThrustDevice<System>> {
    /// errors   those of synchronize, and ValueError
    template <class To, class From>
    static void check(ThrustDevice<System> const& exec, std::size_t n, From const* from) {
        if (n == 0) return;
        std::size_t count = (n + 63) / 64;
        DeviceStorage<std::uint64_t, System> const some(exec, count), others(exec, (count + 63) / 64);
        launch_always(exec, count, FirstUnfit<To, From>{from, some.data(), n});
        std::uint64_t *least = some.data(), *to = others.data();
        for (; count > 1; std::swap(least, to)) {
            std::size_t const blocks = (count + 63) / 64;
            launch_always(exec, blocks, LeastOf{least, to, count});
            count = blocks;
        }
        std::uint64_t first = n;
        ThrustSystem<System>::to_host(exec, &first, least, sizeof first);
        synchronize(exec);
        if (first == n) return;
        From x;
        ThrustSystem<System>::to_host(exec, &x, from + first, sizeof x);
        refuse_cast<To>(static_cast<std::size_t>(first), x);
    }
};

}  // namespace rowan::inline v0::detail
