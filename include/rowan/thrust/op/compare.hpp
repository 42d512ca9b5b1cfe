// rowan/thrust/op/compare.hpp: any on a device, which reduces truth values.
#pragma once

#include <rowan/op/elementwise/compare.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/detail/fold.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

struct EitherOf {
    ROWAN_HD bool operator()(bool a, bool b) const { return a || b; }
};

template <class System>
struct AnyElement<ThrustDevice<System>> {
    static void any(ThrustDevice<System> const& exec, std::size_t n, bool const* x, bool* out) {
        if (n == 0) return launch(exec, 1, FillWith<bool>{out, false});
        Fold<bool, System> const any(exec, n, FoldedAt<bool>{x}, EitherOf{});
        copy_device_rows(exec, 1, sizeof(bool), any.result(), out, SameRow{}, SameRow{});
    }
};

}  // namespace rowan::inline v0::detail
