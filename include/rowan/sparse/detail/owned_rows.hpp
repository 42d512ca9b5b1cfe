// rowan/sparse/detail/owned_rows.hpp: for_each_owned, applies source rows to table rows in input order.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rows.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// A source row and the table row to which it is applied.
struct RowPair {
    std::size_t position;
    std::size_t row;
};

/// The lookups in the order in which they are processed: that of the ids, or that of the buckets of a chunk, which begins
/// at position `begin`. One type for both, as the loops over rows are compiled for each.
struct LookupOrder {
    Ids<> const& ids;
    std::uint64_t const* packed = nullptr;  // not in the order of the ids
    unsigned chunk_bits = 0;
    std::size_t begin = 0;

    RowPair operator()(std::size_t i) const {
        if (packed == nullptr) return {i, static_cast<std::size_t>(ids[i])};
        std::uint64_t const position = packed[i] & ((std::uint64_t{1} << chunk_bits) - 1);
        return {begin + static_cast<std::size_t>(position), static_cast<std::size_t>(packed[i] >> chunk_bits)};
    }
};

/// The work: formula(from, to) for consecutive elements of a source row and of a table row.
template <class T, class U, class Formula>
struct RowJob {
    U const* src;
    T* table;
    std::size_t width;
    Formula const& formula;

    static constexpr std::size_t per_line = std::max<std::size_t>(64 / sizeof(T), 1);

    std::size_t lines() const { return (width + per_line - 1) / per_line; }

    /// Applies pair(begin) … pair(end - 1), in this order, to column group g of `groups`. A group consists of whole
    /// cache lines.
    void run(std::size_t g, std::size_t groups, std::size_t begin, std::size_t end, LookupOrder const& pair) const {
        std::size_t const column = lines() * g / groups * per_line;
        std::size_t const columns = std::min(width, lines() * (g + 1) / groups * per_line) - column;
        std::size_t const ahead = lookahead(columns * sizeof(T));
        U const* const from = src + column;
        T* const to = table + column;
        auto const ask = [&](RowPair p) {
            prefetch_row<true>(to + p.row * width, columns * sizeof(T));
            prefetch_row<false>(from + p.position * width, columns * sizeof(U));
        };
        for (std::size_t i = begin; i < std::min(end, begin + ahead); ++i) ask(pair(i));
        on_lanes<compute_t<T, U>>(columns, [&]<class V>(as<V>) ROWAN_INLINED {
            for (std::size_t i = begin; i < end; ++i) {
                if (i + ahead < end) ask(pair(i + ahead));
                RowPair const p = pair(i);
                for_with<V>(formula, columns, from + p.position * width, to + p.row * width);
            }
        });
    }
};

/// The assignment of a table's rows to buckets. The table is divided into parts of 8 KiB; a part belongs to one bucket.
struct TableParts {
    unsigned part_bits;    // log2 of the rows per part
    unsigned bucket_bits;  // log2 of the number of buckets; parts are assigned to them in turn
    unsigned chunk_bits;   // log2 of the lookups per chunk; a position in a chunk and a row fit 64 bits

    TableParts(std::size_t rows, std::size_t row_bytes) {
        auto const row_bits = static_cast<unsigned>(std::bit_width(rows - 1));
        bucket_bits = std::min(row_bits, 10U);
        part_bits = std::min(static_cast<unsigned>(std::bit_width(8192 / row_bytes | 1)) - 1, row_bits - bucket_bits);
        chunk_bits = std::min(64 - row_bits, 18U);
    }
    std::size_t buckets() const { return std::size_t{1} << bucket_bits; }
    std::size_t bucket(std::int64_t row) const { return static_cast<std::size_t>(row) >> part_bits & (buckets() - 1); }
    std::uint64_t pack(std::size_t i, std::int64_t row) const {
        return static_cast<std::uint64_t>(row) << chunk_bits | i;
    }
};

/// A RowJob, of any types.
struct AnyRowJob {
    void const* job;
    std::size_t lines;
    void (*call)(void const*, std::size_t, std::size_t, std::size_t, std::size_t, LookupOrder const&);

    template <class Job>
    explicit AnyRowJob(Job const& job)
        : job(&job), lines(job.lines()), call([](void const* any, std::size_t g, std::size_t groups, std::size_t begin,
                                                 std::size_t end, LookupOrder const& pair) {
              static_cast<Job const*>(any)->run(g, groups, begin, end, pair);
          }) {}
    void run(std::size_t g, std::size_t groups, std::size_t begin, std::size_t end, LookupOrder const& pair) const {
        call(job, g, groups, begin, end, pair);
    }
};

/// Runs a job for all lookups, which are first partitioned into buckets, each in input order. A thread processes whole
/// buckets, so that no two threads write the same row, and the rows of a bucket are close together in memory. Buckets
/// with too many lookups for one thread are divided by columns.
ROWAN_IF_CALLED void run_by_parts(int threads, AnyRowJob const& job, Ids<> const& ids, TableParts const& parts);

/// Calls formula(from, to) for the elements of source row i and of table row ids[i], for all rows i. The calls for an
/// element of the table are in input order and on one thread at a time. If each thread gets at least 256 bytes of a
/// row, the columns are divided among the threads, which needs no partition and balances any distribution of ids.
/// Narrower rows are handled by run_by_parts.
template <class T, class U, class Formula>
void for_each_owned(Cpu exec, Ids<> const& ids, Tensor<U> const& src, Tensor<T>& table, Formula const& formula) {
    int const threads = threads_for(exec, src.size());
    RowJob<T, U, Formula> const job{src.data(), table.data(), src.row_size(), formula};
    if (src.size() == 0) return;
    if (threads > 1 && job.lines() / 4 < static_cast<std::size_t>(threads)) {
        TableParts const parts(table.shape()[0], job.width * sizeof(T));
        return run_by_parts(threads, AnyRowJob(job), ids, parts);
    }
    team(threads, [&](std::size_t t) { job.run(t, static_cast<std::size_t>(threads), 0, ids.size(), {ids}); });
}

}  // namespace rowan::inline v0::detail

#include <rowan/sparse/detail/owned_rows_inl.hpp>
