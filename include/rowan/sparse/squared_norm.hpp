// rowan/sparse/squared_norm.hpp: squared_norm, the sum of the squares of a tensor or gradient.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sparse/detail/row_sums.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The sum of one number per row, in blocks of 64.
template <class S>
S sum_of_rows(std::vector<S> const& x) {
    if (x.empty()) return constant<S>(0.0);
    std::vector<std::int64_t> order(x.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    return *BlockSum<S, S>(x.data(), 1, order.size())(order.data(), order.size(), 0);
}

/// Sums squares.
template <class D>
struct SquareSums {
    static_assert(has_backend<D>,
                  "rowan: squared_norm on a Thrust device needs #include <rowan/thrust/sparse/squared_norm.hpp>");
};

template <>
struct SquareSums<Cpu> {
    /// Of the sums of a plan's rows.
    template <class T>
    static sum_t<T> planned(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value) {
        using S = sum_t<T>;
        std::size_t const width = value.row_size();
        std::vector<S> squares(plan.rows().size());
        RowSums<T>(exec, plan, value)
            .run([](std::size_t) {},
                 [&](std::size_t k, S const* sum) { squares[k] = interleaved_sum<S>(width, sum, squared{}); });
        return sum_of_rows(squares);
    }

    template <class T>
    static sum_t<T> dense(Cpu exec, Tensor<T> const& x) {
        using S = sum_t<T>;
        std::size_t const rows = x.shape(0), width = x.row_size();
        std::vector<S> squares(rows);
        std::size_t const grain = serial_below / 8 / std::max<std::size_t>(width, 1) + 1;
        parallel_work(exec, x.size(), rows, grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                squares[i] = interleaved_sum<S>(width, x.data() + i * width, squared{});
        });
        return sum_of_rows(squares);
    }
};

}  // namespace detail

/// The sum of the squares of the elements of merge(g): duplicates are summed before they are squared, as in the dense
/// tensor. The squares of a row are summed in 16 interleaved partial sums, the rows in ascending order in blocks of 64:
/// bit-identical for any number of threads and on all devices. A Thrust device synchronizes to return the number.
/// Neither squares nor their sum are scaled: for float, an element above 1.8e19 has the square infinity, and one below
/// 1e-19 loses digits, below 2e-23 all; for double 1e154, 1e-154 and 1e-162. clip_by_norm measures such norms, too.
/// shapes   plan of n rows, value [n, ...]
/// errors   ShapeError if value does not have n rows; on a Thrust device those of synchronize
/// cost     O(n * width); temporary memory of two numbers per row of the plan, on a Thrust device of 17 and the sums of
///          duplicates
template <class T, device D>
detail::sum_t<T> squared_norm(D const& exec, std::type_identity_t<RowPlan<D>> const& plan, Tensor<T, D> const& value) {
    detail::check_exec(exec);
    SelectedRows<T, D>::check_value(value, plan.value_rows());
    return detail::SquareSums<D>::planned(exec, plan, value);
}

/// The sum of the squares of the elements of merge(g), in the order of squared_norm for a plan.
/// shapes   g of n rows
/// errors   ShapeError if g.value() does not have n rows; on a Thrust device those of synchronize
/// cost     O(n * width), and a RowPlan: a sort of the rows unless they are merged
template <class T, device D>
detail::sum_t<T> squared_norm(D const& exec, SelectedRows<T, D> const& g) {
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    return squared_norm(exec, RowPlan<D>(exec, g), g.value());
}

/// The sum of the squares of a dense tensor's elements, bit-identical to that of a SelectedRows with all its rows.
/// shapes   x [rows, ...]
/// errors   ShapeError if x has rank 0
/// cost     one read of x; temporary memory of two numbers per row
template <class T, device D>
detail::sum_t<T> squared_norm(D const& exec, Tensor<T, D> const& x) {
    detail::check_rows("x", x);
    return detail::SquareSums<D>::dense(exec, x);
}

template <class T, class Device>
detail::sum_t<T> squared_norm(Tensor<T, Device> const& x) {
    return squared_norm(x.device(), x);
}

template <class T, class Device>
detail::sum_t<T> squared_norm(RowPlan<Device> const& plan, Tensor<T, Device> const& value) {
    return squared_norm(plan.device(), plan, value);
}

template <class T, class Device>
detail::sum_t<T> squared_norm(SelectedRows<T, Device> const& g) {
    return squared_norm(g.device(), g);
}

ROWAN_TEMPLATE(detail::sum_t<float> squared_norm(Cpu const&, RowPlan<> const&, Tensor<float> const&))
ROWAN_TEMPLATE(detail::sum_t<float> squared_norm(Cpu const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(detail::sum_t<float> squared_norm(Cpu const&, Tensor<float> const&))
ROWAN_TEMPLATE(detail::sum_t<double> squared_norm(Cpu const&, RowPlan<> const&, Tensor<double> const&))
ROWAN_TEMPLATE(detail::sum_t<double> squared_norm(Cpu const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(detail::sum_t<double> squared_norm(Cpu const&, Tensor<double> const&))

}  // namespace rowan::inline v0
