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
    ROWAN_HD sum_t<T> again(std::size_t column) const { return (*this)(column); }
};

/// The rows of a tensor.
template <class T>
struct DenseRows {
    using Sum = sum_t<T>;

    T const* value;
    std::size_t width;

    ROWAN_HD bool has(std::size_t) const { return true; }
    /// Calls f(row k, a team to read it).
    template <class Team, class F>
    ROWAN_HD void visit(std::size_t k, Team const& team, F const& f) const {
        f(DenseRow<T>{k, value + k * width}, team);
    }
};

/// The sum of the lookups of a row.
template <class T>
struct LookupSum {
    using Sum = sum_t<T>;
    static constexpr std::size_t some = 4;  // lookups, of which the sum is kept for a second read

    std::size_t row;
    SumLookups<T, Sum, 1> lookups;
    std::size_t begin, end;
    Sum* total;  // made before if there are more than 64 lookups, otherwise kept if there are `some`; may be nullptr

    ROWAN_HD bool is_made() const { return end - begin > block_size; }
    ROWAN_HD bool is_kept() const { return end - begin >= some && total != nullptr; }

    ROWAN_HD Sum operator()(std::size_t column) const {
        if (is_made()) return total[column];
        Sum const sum = lookups(begin, end, column).x[0];
        if (is_kept()) total[column] = sum;
        return sum;
    }
    /// The same in the thread that has called that.
    ROWAN_HD Sum again(std::size_t column) const {
        return is_kept() ? total[column] : lookups(begin, end, column).x[0];
    }
};

/// The rows of a plan.
template <class T>
struct RowsOfPlan {
    using Sum = sum_t<T>;

    Partials<Sum> sums;
    Sum* kept;  // nullptr: rows are read once
    T const* value;
    std::size_t width;

    ROWAN_HD bool has(std::size_t k) const { return static_cast<std::int64_t>(k) < *sums.plan.count; }
    /// Calls f(row k, a team to read it). A row of one lookup is that of the lookup, whose elements are read without a loop.
    template <class Team, class F>
    ROWAN_HD void visit(std::size_t k, Team const& team, F const& f) const {
        auto const run = static_cast<std::int64_t>(k);
        std::size_t const begin = sums.begin(run), end = sums.begin(run + 1);
        auto const row = static_cast<std::size_t>(sums.plan.rows[k]);
        if (end - begin == 1)
            return f(DenseRow<T>{row, value + static_cast<std::size_t>(sums.plan.positions[begin]) * width}, team);
        Sum* total = kept == nullptr ? nullptr : kept + begin / LookupSum<T>::some * width;
        if (end - begin > block_size) total = sums.slot(begin, true, 0);
        f(LookupSum<T>{row, {sums.plan, value, width}, begin, end, total}, team.one_by_one());
    }
};

/// Calls f with the rows of a plan. Kernels that read them may be enqueued by f only.
/// cost     temporary memory, in the type of sums: for more than 64 lookups, 1/32 of the elements of value, and 1/4 of them
///          if rows are read `again`
template <class System, class T, class F>
void with_summed_rows(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
                      Tensor<T, ThrustDevice<System>> const& value, bool again, F const& f) {
    using S = sum_t<T>;
    check_here(exec, value);
    RowPlanAccess::check(exec, plan);
    PlanArrays const arrays = RowPlanAccess::arrays(plan);
    std::size_t const width = value.row_size(), n = arrays.n;
    DeviceStorage<S, System> const partial(exec, partials_of(n, width));
    DeviceStorage<S, System> const kept(exec, again ? n / LookupSum<T>::some * width : 0);
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
    f(RowsOfPlan<T>{{arrays, partial.data(), width, FastDivmod(width)}, kept.data(), value.data(), width});
}

}  // namespace rowan::inline v0::detail
