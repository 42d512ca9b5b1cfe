// rowan/thrust/sparse/squared_norm.hpp: squared_norm on a device.
#pragma once

#include <rowan/detail/interleaved.hpp>
#include <rowan/sparse/squared_norm.hpp>
#include <rowan/thrust/detail/row_squares.hpp>
#include <rowan/thrust/sparse/update_rows.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// The sum of squares of row k, from its partial sums.
template <class G, class S>
struct SumSquares {
    SomeRows<G> in;
    S* parts;
    S* squares;
    ROWAN_HD void operator()(std::size_t k) const {
        squares[k] = in.has(k) ? tree_sum(parts + k * 16) : constant<S>(0.0);
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

/// The sum of squares of the first *in.count of n rows, or of all n if it is null.
template <class S, class System, class G>
S sum_of_squares(ThrustDevice<System> const& exec, std::size_t n, SomeRows<G> const& in) {
    if (n == 0 || in.width == 0) return constant<S>(0.0);
    DeviceStorage<S, System> const parts(exec, n * 16);  // later the sums of blocks of rows
    DeviceStorage<S, System> const squares(exec, n);
    launch(exec, n * 16, SquareParts<G, S>{in, parts.data()});
    launch(exec, n, SumSquares<G, S>{in, parts.data(), squares.data()});
    S *from = squares.data(), *to = parts.data();
    for (std::size_t span = 1; n > 1; span *= block_size) {
        std::size_t const blocks = (n + block_size - 1) / block_size;
        launch(exec, blocks, SumNumbers<S>{from, to, n, span, in.count});
        S* const sums = to;
        to = from;
        from = sums;
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
        auto const sums = summed_rows(exec, plan, value);
        std::int64_t const* const count = RowPlanAccess::arrays(plan).count;
        return sum_of_squares<S>(exec, plan.size(), SomeRows<S>{sums.data(), value.row_size(), nullptr, count});
    }

    template <class T>
    static sum_t<T> dense(Device const& exec, Tensor<T, Device> const& x) {
        check_here(exec, x);
        return sum_of_squares<sum_t<T>>(exec, x.shape()[0], SomeRows<T>{x.data(), x.row_size(), nullptr, nullptr});
    }
};

}  // namespace rowan::inline v0::detail
