// rowan/thrust/sparse/from_dense.hpp: from_dense on a device.
#pragma once

#include <rowan/sparse/from_dense.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/sparse/gather.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Whether an element of row k / lanes is large, among every lanes-th element from k % lanes on.
template <class T>
struct FindLarge {
    is_large<T> large;
    T const* x;
    std::size_t width;
    FastDivmod lanes;
    bool* found;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const row = lanes.quotient(k);
        bool any = false;
        for (std::size_t i = k - row * lanes.by; i < width && !any; i += lanes.by) any = large(x[row * width + i]);
        found[k] = any;
    }
};

/// Whether row k has a large element.
struct HasLarge {
    bool const* found;
    std::size_t lanes;

    ROWAN_HD bool operator()(std::size_t k) const {
        for (std::size_t i = 0; i < lanes; ++i) {
            if (found[k * lanes + i]) return true;
        }
        return false;
    }
};

template <class System>
struct LargeRows<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T>
    static Tensor<std::int64_t, Device> find(Device const& exec, Tensor<T, Device> const& dense,
                                             is_large<T> const& large) {
        check_here(exec, dense);
        std::size_t const n = dense.size() == 0 ? 0 : dense.shape()[0], width = dense.row_size();
        // adjacent threads read adjacent elements
        std::size_t const lanes = std::bit_ceil(std::clamp<std::size_t>(width, 1, 16));
        DeviceStorage<bool, System> const found(exec, n * lanes);
        launch_always(exec, n * lanes, FindLarge<T>{large, dense.data(), width, FastDivmod(lanes), found.data()});
        return kept_of(exec, n, HasLarge{found.data(), lanes});
    }
};

}  // namespace rowan::inline v0::detail
