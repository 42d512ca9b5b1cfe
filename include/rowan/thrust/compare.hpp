// rowan/thrust/compare.hpp: what is made of truth values on a device.
#pragma once

#include <rowan/op/compare.hpp>
#include <rowan/thrust/elementwise.hpp>

#include <cstddef>
#include <utility>

namespace rowan::inline v0::detail {

/// Is one of 64 elements true?
struct AnyOf {
    bool const* from;
    bool* to;
    std::size_t n;

    ROWAN_HD void operator()(std::size_t k) const {
        bool any = false;
        for (std::size_t i = k * 64; i < n && i < k * 64 + 64; ++i) any = any || from[i];
        to[k] = any;
    }
};

template <class System>
struct AnyElement<ThrustDevice<System>> {
    static void any(ThrustDevice<System> const& exec, std::size_t n, bool const* x, bool* out) {
        std::size_t const blocks = (n + 63) / 64;
        DeviceStorage<bool, System> const some(exec, blocks), others(exec, (blocks + 63) / 64);
        bool *to = some.data(), *next = others.data();
        for (; n > 64; std::swap(to, next)) {
            launch(exec, (n + 63) / 64, AnyOf{x, to, n});
            n = (n + 63) / 64;
            x = to;
        }
        launch(exec, 1, AnyOf{x, out, n});
    }
};

}  // namespace rowan::inline v0::detail
