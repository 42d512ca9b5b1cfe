// rowan/sparse/from_dense.hpp: from_dense, the nonzero rows of a tensor as SelectedRows.
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

namespace detail {

/// Whether an element is NaN or its absolute value exceeds a threshold.
template <class T>
class is_large {
    using S = sum_t<T>;

public:
    /// errors   ValueError if threshold is negative or not finite
    explicit is_large(double threshold) {
        check_finite("threshold", threshold);
        if (threshold < 0.0) throw ValueError("threshold", threshold, "0 or more");
        // no value of S exceeds such a threshold
        if constexpr (std::integral<S>) none_ = threshold >= static_cast<double>(std::numeric_limits<S>::max());
        if (none_) return;
        high_ = constant<S>(threshold);
        low_ = constant<S>(-threshold);
    }

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD bool operator()(T const& x) const {
        S const s = dtype<T>::widen(x);
        return !none_ && !(s <= high_ && s >= low_);
    }

private:
    bool none_ = false;
    S high_{}, low_{};
};

}  // namespace detail

/// The rows of `dense` with an element that is NaN or whose absolute value exceeds `threshold`; merged. Threshold 0
/// keeps all nonzero rows.
/// shapes   dense [height, ...] -> a SelectedRows of that height and row shape
/// errors   ShapeError for rank 0; ValueError if threshold is negative or not finite
/// cost     O(height * width)
template <class T>
SelectedRows<T> from_dense(Cpu exec, Tensor<T> const& dense, double threshold = 0.0) {
    detail::check_rows("dense", dense);
    detail::is_large<T> const large(threshold);
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < dense.shape()[0] && dense.size() != 0; ++i) {
        if (std::ranges::any_of(dense.row(i), large)) rows.push_back(static_cast<std::int64_t>(i));
    }
    return detail::SelectedRowsAccess::make(detail::height_of(dense), rows, gather(exec, dense, rows));
}

template <class T, class Device>
SelectedRows<T, Device> from_dense(Tensor<T, Device> const& dense, double threshold = 0.0) {
    return from_dense(Device{}, dense, threshold);
}

ROWAN_TEMPLATE(SelectedRows<float> from_dense(Cpu, Tensor<float> const&, double))
ROWAN_TEMPLATE(SelectedRows<double> from_dense(Cpu, Tensor<double> const&, double))

}  // namespace rowan::inline v0
