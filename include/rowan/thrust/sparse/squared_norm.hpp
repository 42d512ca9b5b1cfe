// rowan/thrust/sparse/squared_norm.hpp: squared_norm on a device.
#pragma once

#include <rowan/sparse/squared_norm.hpp>
#include <rowan/thrust/detail/teams.hpp>
#include <rowan/thrust/sparse/detail/gradient_rows.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0::detail {

/// The sum of squares of row k, or 0.
template <class S, class Rows>
struct SumSquares {
    Rows rows;
    S* squares;

    template <class Team>
    ROWAN_HD void operator()(std::size_t k, Team const& team) const {
        if (!rows.has(k)) {
            if (team.leads()) squares[k] = constant<S>(0.0);
            return;
        }
        rows.visit(k, team, [&](auto const& row, auto const& some) {
            S const sum =
                some.template sum<S>(rows.width, [&](std::size_t i) { return squared{}(static_cast<S>(row(i))); });
            if (some.leads()) squares[k] = sum;
        });
    }
};

/// Sums a block of 64 numbers, each of which is the sum of `span` rows. Only the first ⌈count / span⌉ numbers exist.
template <class S>
struct SumNumbers {
    S const* from;
    S* to;
    std::size_t n, span;
    std::int64_t const* count;  // nullptr: n numbers exist

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const there = count == nullptr ? n : (static_cast<std::size_t>(*count) + span - 1) / span;
        std::size_t const begin = k * block_size;
        std::size_t const end = there < begin + block_size ? there : begin + block_size;
        if (begin >= end) return;
        S sum = from[begin];
        for (std::size_t i = begin + 1; i < end; ++i) sum = plus(sum, from[i]);
        to[k] = sum;
    }
};

/// The sum of squares of n rows, of which the first *count exist; all if that is null.
template <class S, class System, class Rows>
S sum_of_squares(ThrustDevice<System> const& exec, std::size_t n, Rows const& rows, std::int64_t const* count) {
    if (n == 0 || rows.width == 0) return constant<S>(0.0);
    DeviceStorage<S, System> const squares(exec, n), sums(exec, (n + block_size - 1) / block_size);
    launch_teams(exec, n, SumSquares<S, Rows>{rows, squares.data()});
    S *from = squares.data(), *to = sums.data();
    for (std::size_t span = 1; n > 1; span *= block_size) {
        std::size_t const blocks = (n + block_size - 1) / block_size;
        launch(exec, blocks, SumNumbers<S>{from, to, n, span, count});
        std::swap(from, to);
        n = blocks;
    }
    S sum = constant<S>(0.0);
    read_back(exec, {{&sum, from, sizeof sum}});
    return sum;
}

template <class System>
struct SquareSums<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T>
    static sum_t<T> planned(Device const& exec, RowPlan<Device> const& plan, Tensor<T, Device> const& value) {
        using S = sum_t<T>;
        check_here(exec, value);
        if (plan.size() == 0) return constant<S>(0.0);
        S sum = constant<S>(0.0);
        with_summed_rows(exec, plan, value, false, [&](RowsOfPlan<T> const& rows) {
            sum = sum_of_squares<S>(exec, plan.size(), rows, rows.sums.plan.count);
        });
        return sum;
    }

    template <class T>
    static sum_t<T> dense(Device const& exec, Tensor<T, Device> const& x) {
        check_here(exec, x);
        return sum_of_squares<sum_t<T>>(exec, x.shape()[0], DenseRows<T>{x.data(), x.row_size()}, nullptr);
    }
};

}  // namespace rowan::inline v0::detail
