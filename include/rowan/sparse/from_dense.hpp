// rowan/sparse/from_dense.hpp: from_dense, the rows of a tensor that are not zero.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace rowan::inline v0 {

/// The rows of `dense` in which some element is larger than `threshold` in size, or NaN; merged. With threshold 0 nothing is lost.
/// shapes   dense [height, ...]
/// errors   ShapeError for rank 0; ValueError if threshold is negative or not finite
/// cost     O(height * width)
template <class T>
SelectedRows<T> from_dense(Cpu exec, Tensor<T> const& dense, double threshold = 0.0) {
    using S = detail::sum_t<T>;
    detail::check_rows("dense", dense);
    detail::check_finite("threshold", threshold);
    if (threshold < 0.0) throw ValueError("threshold", threshold, "0 or more");
    bool all_small = false;  // no integer is larger than that
    if constexpr (std::integral<S>) all_small = threshold >= static_cast<double>(std::numeric_limits<S>::max());
    if (all_small) threshold = 0.0;
    S const high = detail::constant<S>(threshold);
    S const low = detail::constant<S>(-threshold);
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < dense.shape()[0] && dense.size() != 0; ++i) {
        auto const row = dense.row(i);
        bool const large = !all_small && std::ranges::any_of(row, [&](T const& x) {
            S const s = dtype<T>::widen(x);
            return !(s <= high && s >= low);
        });
        if (large) rows.push_back(static_cast<std::int64_t>(i));
    }
    return detail::SelectedRowsAccess::make(detail::height_of(dense), rows, gather(exec, dense, rows));
}

template <class T, class Device>
SelectedRows<T, Device> from_dense(Tensor<T, Device> const& dense, double threshold = 0.0) {
    return from_dense(Device{}, dense, threshold);
}

}  // namespace rowan::inline v0
