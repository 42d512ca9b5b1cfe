// rowan/thrust/sparse/detail/row_sums.hpp: sums of duplicate rows on a device, in blocks of 64 as on the host.
#pragma once

#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/sparse/row_plan.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// The partial sums of rows. The lookups of a row are summed in blocks of 64, counted from its first lookup, the block
/// sums in blocks of 64, and so on. A row of at most 64 lookups has one block, whose sum is applied directly. For
/// longer rows, `partial` stores the sum of the block that begins at lookup i, in the plan's order, in slot 2·⌊i/64⌋,
/// plus 1 if it is the first block of its row. No two blocks share a slot: among the blocks of these rows, at most one
/// first block and at most one later block begin in a window of 64 lookups.
template <class S>
struct Partials {
    PlanArrays plan;
    S* partial;
    std::size_t width;
    FastDivmod lanes;  // threads per row

    ROWAN_HD S* slot(std::size_t i, bool first, std::size_t column) const {
        return partial + (2 * (i / block_size) + (first ? 1 : 0)) * width + column;
    }
    ROWAN_HD std::size_t begin(std::int64_t run) const { return static_cast<std::size_t>(plan.offsets[run]); }

    /// The first lookup of a group of a row, counted in groups from the row's first lookup, that begins in a window of
    /// `size` <= group lookups, and the `end` of the row; plan.n if there is none. `first` is for the row that begins in
    /// the window and continues after it, otherwise for the row that contains the first lookup of the window. Rows of at
    /// most `size` lookups are skipped.
    ROWAN_HD std::size_t group_in(std::size_t window, std::size_t size, std::size_t group, bool first,
                                  std::size_t& end) const {
        std::size_t const after = window + size;
        if (first && after >= plan.n) return plan.n;
        std::int64_t const run = plan.run[first ? after : window];
        std::size_t const from = begin(run);
        end = begin(run + 1);
        if (end - from <= size) return plan.n;
        if (first) return from < window || from >= after ? plan.n : from;
        std::size_t const i = from + (window - from + group - 1) / group * group;
        return i == from || i >= after || i >= end ? plan.n : i;
    }
};

/// Adds up the 1 to 64 lookups [i, stop) of a row.
template <class T, class S, int N>
struct SumLookups {
    PlanArrays plan;
    T const* value;
    std::size_t width;

    ROWAN_HD Chunk<S, N> operator()(std::size_t i, std::size_t stop, std::size_t column) const {
        T const* const from = value + column;
        std::int64_t const* position = plan.positions + i;
        Chunk<S, N> sum = load_chunk<S, N>(from + static_cast<std::size_t>(*position) * width);
        for (auto left = static_cast<unsigned>(stop - i); --left != 0;) {
            Chunk<S, N> const more = load_chunk<S, N>(from + static_cast<std::size_t>(*++position) * width);
            for (int e = 0; e < N; ++e) sum.x[e] = plus(sum.x[e], more.x[e]);
        }
        return sum;
    }
};

/// Sums a block if one begins at lookup k / lanes.
template <class T, class S, int N, class Apply>
struct SumBlock {
    Partials<S> to;
    T const* value;
    Apply apply;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = to.lanes.quotient(k);
        std::size_t const column = (k - i * to.lanes.by) * N;
        std::int64_t const run = to.plan.run[i];
        std::size_t const begin = to.begin(run), end = to.begin(run + 1);
        if ((i - begin) % block_size != 0) return;
        std::size_t const stop = end - i < block_size ? end : i + block_size;
        auto const sum = SumLookups<T, S, N>{to.plan, value, to.width}(i, stop, column);
        if (end - begin <= block_size) {
            apply(run, column, sum);
        } else {
            store_chunk(sum, to.slot(i, i == begin, column));
        }
    }
};

/// Sums the blocks of rows of more than 64 lookups only. For each window of 64 lookups, two threads per chunk of columns
/// check whether one begins in it.
template <class T, class S, int N>
struct SumLongBlock {
    Partials<S> to;
    T const* value;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const ask = to.lanes.quotient(k);
        std::size_t const column = (k - ask * to.lanes.by) * N;
        bool const first = ask % 2 != 0;
        std::size_t end = 0;
        std::size_t const i = to.group_in(ask / 2 * block_size, block_size, block_size, first, end);
        if (i >= to.plan.n) return;
        std::size_t const stop = end - i < block_size ? end : i + block_size;
        store_chunk(SumLookups<T, S, N>{to.plan, value, to.width}(i, stop, column), to.slot(i, first, column));
    }
};

/// For rows of more than `span` lookups, adds up to 64 partial sums of `span` lookups each, in place into the first of
/// them. For each window of `span` lookups, two threads per chunk of columns check whether such a group begins in it.
template <class S, int N>
struct SumPartials {
    Partials<S> in;
    std::size_t span;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const ask = in.lanes.quotient(k);
        std::size_t const column = (k - ask * in.lanes.by) * N;
        bool const first = ask % 2 != 0;
        std::size_t end = 0;
        std::size_t const i = in.group_in(ask / 2 * span, span, span * block_size, first, end);
        if (i >= in.plan.n) return;
        auto* const to = reinterpret_cast<Chunk<S, N>*>(in.slot(i, first, column));
        Chunk<S, N> sum = *to;
        std::size_t j = i;
        for (std::size_t b = 1; b < block_size && end - j > span; ++b) {
            j += span;
            auto const more = *reinterpret_cast<Chunk<S, N> const*>(in.slot(j, false, column));
            for (int e = 0; e < N; ++e) sum.x[e] = plus(sum.x[e], more.x[e]);
        }
        *to = sum;
    }
};

/// Applies the sums of rows of more than 64 lookups. At most one such row begins in each window of 64 lookups.
template <class S, int N, class Apply>
struct ApplyPartials {
    Partials<S> in;
    Apply apply;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const ask = in.lanes.quotient(k);
        std::size_t const column = (k - ask * in.lanes.by) * N;
        std::size_t const window = ask * block_size, after = window + block_size;
        if (after >= in.plan.n) return;
        std::int64_t const run = in.plan.run[after];
        std::size_t const begin = in.begin(run);
        if (begin < window || begin >= after || in.begin(run + 1) - begin <= block_size) return;
        apply(run, column, *reinterpret_cast<Chunk<S, N> const*>(in.slot(begin, true, column)));
    }
};

/// The elements of the partial sums of n lookups.
inline std::size_t partials_of(std::size_t n, std::size_t width) {
    return n > block_size ? 2 * ((n + block_size - 1) / block_size) * width : 0;
}

/// Adds the sums of blocks up to those of rows of more than 64 lookups, which are then in the slots of their first blocks.
template <int N, class S, class System>
void add_partials(ThrustDevice<System> const& exec, Partials<S> const& in) {
    for (std::size_t span = block_size; span < in.plan.n; span *= block_size)
        launch(exec, 2 * ((in.plan.n + span - 1) / span) * in.lanes.by, SumPartials<S, N>{in, span});
}

/// Calls apply(run, column, sum) for every row of the plan, with chunks of N elements of its sum.
template <int N, class System, class T, class Apply>
void sum_rows_in_chunks(ThrustDevice<System> const& exec, PlanArrays const& plan,
                        Tensor<T, ThrustDevice<System>> const& value, Apply const& apply) {
    using S = sum_t<T>;
    std::size_t const width = value.row_size();
    std::size_t const lanes = width / N;
    std::size_t const blocks = (plan.n + block_size - 1) / block_size;
    DeviceStorage<S, System> const partial(exec, partials_of(plan.n, width));
    Partials<S> const partials{plan, partial.data(), width, FastDivmod(lanes)};
    launch(exec, plan.n * lanes, SumBlock<T, S, N, Apply>{partials, value.data(), apply});
    if (plan.n <= block_size) return;
    add_partials<N>(exec, partials);
    launch(exec, blocks * lanes, ApplyPartials<S, N, Apply>{partials, apply});
}

/// The same, in chunks if `chunks` (whether the memory that `apply` accesses is suitable for chunks) and `value` allows
/// it.
/// cost     one read of every contribution; for more than 64 lookups, temporary memory for 1/32 of the elements of
///          value, in the type of sums
template <class System, class T, class Apply1, class ApplyN>
void sum_rows(ThrustDevice<System> const& exec, RowPlan<ThrustDevice<System>> const& plan,
              Tensor<T, ThrustDevice<System>> const& value, bool chunks, Apply1 const& apply_one,
              ApplyN const& apply_chunk) {
    if (plan.size() == 0 || value.row_size() == 0) return;
    check_here(exec, value);
    RowPlanAccess::check(exec, plan);
    PlanArrays const arrays = RowPlanAccess::arrays(plan);
    if (chunks && in_chunks(value.row_size(), value.data())) {
        sum_rows_in_chunks<chunk_size>(exec, arrays, value, apply_chunk);
    } else {
        sum_rows_in_chunks<1>(exec, arrays, value, apply_one);
    }
}

}  // namespace rowan::inline v0::detail
