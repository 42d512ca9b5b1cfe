// rowan/sparse/from_dense.hpp: from_dense, the nonzero rows of a tensor as SelectedRows.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/extremes.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

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

    ROWAN_KERNEL bool operator()(T const& x) const {
        S const s = dtype<T>::widen(x);
        return !none_ && !(not_above(s, high_) && not_above(low_, s));
    }

private:
    bool none_ = false;
    S high_{}, low_{};
};

/// Finds the rows of a tensor with a large element.
template <class D>
struct LargeRows {
    static_assert(has_backend<D>,
                  "rowan: from_dense on a Thrust device needs #include <rowan/thrust/sparse/from_dense.hpp>");
};

template <>
struct LargeRows<Cpu> {
    template <class T>
    static Tensor<std::int64_t> find(Cpu exec, Tensor<T> const& dense, is_large<T> const& large) {
        return RowGather<Cpu>::where(exec, dense.size() == 0 ? 0 : dense.shape()[0],
                                     [&](std::size_t i) { return std::ranges::any_of(dense.row(i), large); });
    }
};

}  // namespace detail

/// The rows of `dense` with an element that is NaN or whose absolute value exceeds `threshold`; merged. Threshold 0
/// keeps all nonzero rows. A Thrust device synchronizes once to get their number.
/// shapes   dense [height, ...] -> a SelectedRows of that height and row shape
/// errors   ShapeError for rank 0; ValueError if threshold is negative or not finite
/// cost     O(height * width); on a Thrust device temporary memory of up to 24 bytes per row of dense
template <class T, device D>
SelectedRows<T, D> from_dense(D const& exec, Tensor<T, D> const& dense, double threshold = 0.0) {
    detail::check_rows("dense", dense);
    detail::is_large<T> const large(threshold);
    detail::check_exec(exec);
    auto rows = detail::LargeRows<D>::find(exec, dense, large);
    auto value = detail::rows_at(exec, dense, rows);
    return detail::SelectedRowsAccess::adopt(detail::height_of(dense), std::move(rows), std::move(value), true);
}

template <class T, class Device>
SelectedRows<T, Device> from_dense(Tensor<T, Device> const& dense, double threshold = 0.0) {
    return from_dense(dense.device(), dense, threshold);
}

ROWAN_TEMPLATE(SelectedRows<float> from_dense(Cpu const&, Tensor<float> const&, double))
ROWAN_TEMPLATE(SelectedRows<double> from_dense(Cpu const&, Tensor<double> const&, double))

}  // namespace rowan::inline v0
