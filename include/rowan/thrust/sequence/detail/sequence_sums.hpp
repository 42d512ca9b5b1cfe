// rowan/thrust/sequence/detail/sequence_sums.hpp: SumTree, which reduces rows known to the host, in blocks of 64.
#pragma once

#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/detail/on_device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0::detail {

/// Sums `count` <= 64 rows: first, first + stride, …
struct SumTask {
    std::int64_t first;
    std::int64_t stride;
    std::int64_t count;
    std::int64_t to;  // the index of the total, or -1 - slot for a partial sum
    std::int64_t n;   // the number of rows of the total
};

/// Executes task k / lanes.
template <class Rows, int N, class Apply>
struct DoSumTask {
    using S = typename Rows::Sum;

    SumTask const* tasks;
    Rows rows;
    S* partial;
    FastDivmod lanes;  // threads per row
    Apply apply;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = lanes.quotient(k);
        std::size_t const column = (k - i * lanes.by) * N;
        SumTask const task = tasks[i];
        if (task.count == 0) {
            apply.template empty<N>(static_cast<std::size_t>(task.to), column);
            return;
        }
        Chunk<S, N> sum = rows.template at<N>(task.first, column);
        for (std::int64_t j = 1; j < task.count; ++j) {
            Chunk<S, N> const more = rows.template at<N>(task.first + j * task.stride, column);
            for (int e = 0; e < N; ++e) rows.combine(sum.x[e], more.x[e]);
        }
        if (task.to >= 0) {
            apply(static_cast<std::size_t>(task.to), static_cast<std::size_t>(task.n), column, sum);
        } else {
            std::size_t const slot = static_cast<std::size_t>(-1 - task.to);
            store_chunk(sum, partial + slot * lanes.by * N + column);
        }
    }
};

/// The partial sums, as rows to be summed.
template <class Rows>
struct PartialRows {
    using Sum = typename Rows::Sum;

    Rows rows;
    Sum const* partial;
    std::size_t width;

    template <int N>
    ROWAN_HD Chunk<Sum, N> at(std::int64_t row, std::size_t column) const {
        return *reinterpret_cast<Chunk<Sum, N> const*>(partial + static_cast<std::size_t>(row) * width + column);
    }
    ROWAN_HD void combine(Sum& sum, Sum const& more) const { rows.combine(sum, more); }
};

/// The tasks of all totals. The rows of a total are reduced in blocks of 64, the results in blocks of 64, and so on;
/// each block is a task.
class SumTree {
public:
    /// Adds the tasks of a total of n rows.
    void add(std::size_t total, std::int64_t first, std::int64_t stride, std::size_t n) {
        add(0, static_cast<std::int64_t>(total), first, stride, n, n);
    }

    /// Calls apply(total, n, column, sum) with chunks of the sum of each total, or apply.empty<N>(total, column) if it
    /// has no rows.
    /// cost     uploads 40 bytes per task; one thread per task and chunk of columns
    template <class Exec, class Rows, class Apply>
    void run(Exec const& exec, std::size_t width, Rows const& rows, Apply const& apply, bool chunks) const {
        chunks ? run_chunks<chunk_size>(exec, width, rows, apply) : run_chunks<1>(exec, width, rows, apply);
    }

    /// The same with chunks of N elements. Runs even if an earlier call has failed; its outputs must be new memory.
    template <int N, class Exec, class Rows, class Apply>
    void run_chunks(Exec const& exec, std::size_t width, Rows const& rows, Apply const& apply) const {
        using S = typename Rows::Sum;
        if (width == 0 || levels_.empty()) return;
        std::vector<SumTask> all;
        for (auto const& level : levels_) all.insert(all.end(), level.begin(), level.end());
        OnDevice<SumTask, Exec> const tasks(exec, all);
        OnDevice<S, Exec> const partial(exec, static_cast<std::size_t>(slots_) * width);
        std::size_t const lanes = width / N;
        FastDivmod const by(lanes);
        SumTask const* next = tasks.data();
        for (std::size_t l = 0; l < levels_.size(); ++l) {
            std::size_t const threads = levels_[l].size() * lanes;
            if (l == 0) {
                launch_always(exec, threads, DoSumTask<Rows, N, Apply>{next, rows, partial.data(), by, apply});
            } else {
                using More = PartialRows<Rows>;
                launch_always(
                    exec, threads,
                    DoSumTask<More, N, Apply>{next, {rows, partial.data(), width}, partial.data(), by, apply});
            }
            next += levels_[l].size();
        }
    }

private:
    void add(std::size_t level, std::int64_t total, std::int64_t first, std::int64_t stride, std::size_t count,
             std::size_t n) {
        if (level == levels_.size()) levels_.emplace_back();
        auto const task = [&](std::size_t begin, std::size_t size, std::int64_t to) {
            levels_[level].push_back({first + static_cast<std::int64_t>(begin) * stride, stride,
                                      static_cast<std::int64_t>(size), to, static_cast<std::int64_t>(n)});
        };
        if (count <= block_size) return task(0, count, total);
        std::int64_t const slot = slots_;
        for (std::size_t i = 0; i < count; i += block_size) task(i, std::min(block_size, count - i), -1 - slots_++);
        add(level + 1, total, slot, 1, static_cast<std::size_t>(slots_ - slot), n);
    }

    std::vector<std::vector<SumTask>> levels_;
    std::int64_t slots_ = 0;
};

/// Rows of a value to be summed: row r is row index[r], or row r if index is null.
template <class T>
struct AddRows {
    using Sum = sum_t<T>;

    T const* rows;
    std::size_t width;
    std::int64_t const* index;

    template <int N>
    ROWAN_HD Chunk<Sum, N> at(std::int64_t r, std::size_t column) const {
        std::int64_t const row = index == nullptr ? r : index[r];
        return load_chunk<Sum, N>(rows + static_cast<std::size_t>(row) * width + column);
    }
    ROWAN_HD void combine(Sum& sum, Sum const& more) const { sum = plus(sum, more); }
};

/// Stores totals as the rows of a value.
template <class T>
struct StoreTotal {
    T* to;
    std::size_t width;
    T padding;

    template <class S, int N>
    ROWAN_HD void operator()(std::size_t total, std::size_t, std::size_t column, Chunk<S, N> const& sum) const {
        store_chunk(sum, to + total * width + column);
    }
    template <int N>
    ROWAN_HD void empty(std::size_t total, std::size_t column) const {
        for (int e = 0; e < N; ++e) to[total * width + column + static_cast<std::size_t>(e)] = padding;
    }
};

}  // namespace rowan::inline v0::detail
