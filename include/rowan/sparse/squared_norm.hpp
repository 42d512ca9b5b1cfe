// rowan/sparse/squared_norm.hpp: squared_norm, the sum of the squares of a tensor or gradient.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/detail/row_sums.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

}  // namespace detail

/// The sum of the squares of the elements of merge(g): duplicates are summed before they are squared, as in the dense
/// tensor. The squares of a row are summed in 16 interleaved partial sums, the rows in ascending order in blocks of 64:
/// bit-identical for any number of threads.
/// shapes   plan of n rows, value [n, ...]
/// errors   ShapeError if value does not have n rows
/// cost     O(n * width); temporary memory of two numbers per row of the plan
template <class T>
detail::sum_t<T> squared_norm(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value) {
    using S = detail::sum_t<T>;
    static_cast<void>(thread_count(exec));  // validates exec.threads
    SelectedRows<T>::check_value(value, plan.size());
    std::size_t const width = value.row_size();
    std::vector<S> squares(plan.rows().size());
    detail::RowSums<T>(exec, plan, value)
        .run([](std::size_t) {},
             [&](std::size_t k, S const* sum) {
                 squares[k] = detail::interleaved_sum<S>(width, sum, detail::squared{});
             });
    return detail::sum_of_rows(squares);
}

/// The same for a gradient.
/// cost     as above, and a RowPlan: a sort of the rows unless they are merged
template <class T>
detail::sum_t<T> squared_norm(Cpu exec, SelectedRows<T> const& g) {
    SelectedRows<T>::check_value(g.value(), g.rows().size());
    return squared_norm(exec, RowPlan<>(exec, g), g.value());
}

/// The sum of the squares of a dense tensor's elements, bit-identical to that of a SelectedRows with all its rows.
/// shapes   x [rows, ...]
/// errors   ShapeError if x has rank 0
/// cost     one read of x; temporary memory of two numbers per row
template <class T>
detail::sum_t<T> squared_norm(Cpu exec, Tensor<T> const& x) {
    using S = detail::sum_t<T>;
    detail::check_rows("x", x);
    std::size_t const rows = x.shape(0), width = x.row_size();
    std::vector<S> squares(rows);
    bool const serial = detail::threads_for(exec, x.size()) == 1;
    std::size_t const grain = detail::serial_below / 8 / std::max<std::size_t>(width, 1) + 1;
    parallel_for(exec, rows, serial ? rows : grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            squares[i] = detail::interleaved_sum<S>(width, x.data() + i * width, detail::squared{});
    });
    return detail::sum_of_rows(squares);
}

template <class T, class Device>
detail::sum_t<T> squared_norm(Tensor<T, Device> const& x) {
    return squared_norm(Device{}, x);
}

template <class T, class Device>
detail::sum_t<T> squared_norm(RowPlan<Device> const& plan, Tensor<T, Device> const& value) {
    return squared_norm(Device{}, plan, value);
}

template <class T, class Device>
detail::sum_t<T> squared_norm(SelectedRows<T, Device> const& g) {
    return squared_norm(Device{}, g);
}

ROWAN_TEMPLATE(detail::sum_t<float> squared_norm(Cpu, RowPlan<> const&, Tensor<float> const&))
ROWAN_TEMPLATE(detail::sum_t<float> squared_norm(Cpu, SelectedRows<float> const&))
ROWAN_TEMPLATE(detail::sum_t<float> squared_norm(Cpu, Tensor<float> const&))
ROWAN_TEMPLATE(detail::sum_t<double> squared_norm(Cpu, RowPlan<> const&, Tensor<double> const&))
ROWAN_TEMPLATE(detail::sum_t<double> squared_norm(Cpu, SelectedRows<double> const&))
ROWAN_TEMPLATE(detail::sum_t<double> squared_norm(Cpu, Tensor<double> const&))

}  // namespace rowan::inline v0
