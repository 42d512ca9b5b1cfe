// rowan/thrust/sparse/detail/gradient_rows.hpp: the rows of dense gradients, and the sums of those of a plan, read by teams.
#pragma once

#include <rowan/thrust/sparse/detail/row_sums.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

template <class T>
struct DenseRow {
    std::size_t row;
    T const* value;

    ROWAN_HD sum_t<T> operator()(std::size_t column) const { return load<sum_t<T>>(value + column); }
};

/// The rows of a tensor.
template <class T>
struct DenseRows {
    using Sum = sum_t<T>;

    T const* value;
    std::size_t width;

    ROWAN_HD bool has(std::size_t) const { return true; }
    ROWAN_HD DenseRow<T> operator[](std::size_t k) const { return {k, value + k * width}; }
};

/// The sum of the lookups of a row, which is computed for each read unless the row has more than 64.
template <class T>
struct LookupSum {
    std::size_t row;
    SumLookups<T, sum_t<T>, 1> lookups;
    std::size_t begin, end;
    sum_t<T> const* total;  // of a row of more than 64 lookups

    ROWAN_HD sum_t<T> operator()(std::size_t column) const {
        return end - begin > block_size ? total[column] : lookups(begin, end, column).x[0];
    }
};

/// The rows of a plan, after sum_long_rows.
template <class T>
struct RowsOfPlan {
    using Sum = sum_t<T>;

    Partials<Sum> sums;
    T const* value;
    std::size_t width;

    ROWAN_HD bool has(std::size_t k) const { return static_cast<std::int64_t>(k) < *sums.plan.count; }
    ROWAN_HD LookupSum<T> operator[](std::size_t k) const {
        auto const run = static_cast<std::int64_t>(k);
        std::size_t const begin = sums.begin(run), end = sums.begin(run + 1);
        return {static_cast<std::size_t>(sums.plan.rows[k]),
                {sums.plan, value, width},
                begin,
                end,
                sums.slot(begin, true, 0)};
    }
};

/// Calls f with the rows of a plan. Kernels that read them may be enqueued by f only.
/// cost     for more than 64 lookups, temporary memory for 1/32 of the elements of value, in the type of sums
template <class System, class T, class F>
void with_summed_rows(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                      Tensor<T, ThrustDevice<System>> const& value, F const& f) {
    using S = sum_t<T>;
    check_here(exec, value);
    RowPlanAccess::check(exec, plan);
    PlanArrays const arrays = RowPlanAccess::arrays(plan);
    std::size_t const width = value.row_size(), n = arrays.n;
    DeviceStorage<S, System> const partial(exec, partials_of(n, width));
    auto const sum_long_rows = [&]<int N>() {
        Partials<S> const partials{arrays, partial.data(), width, FastDivmod(width / N)};
        launch(exec, 2 * ((n + block_size - 1) / block_size) * partials.lanes.by,
               SumLongBlock<T, S, N>{partials, value.data()});
        add_partials<N>(exec, partials);
    };
    if (n > block_size && width != 0) {
        if (in_chunks(width, value.data())) {
            sum_long_rows.template operator()<chunk_size>();
        } else {
            sum_long_rows.template operator()<1>();
        }
    }
    f(RowsOfPlan<T>{{arrays, partial.data(), width, FastDivmod(width)}, value.data(), width});
}

}  // namespace rowan::inline v0::detail
