// rowan/detail/owned_rows.hpp: rows of a source applied to a table in input order, every row of the table by one thread.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Which of `owners` threads a row belongs to: by hash, as ids often cluster.
ROWAN_INLINE std::uint32_t owner_of(std::int64_t row, std::uint32_t owners) {
    auto const hash = static_cast<std::uint32_t>(static_cast<std::uint64_t>(row) * 0x9E3779B97F4A7C15U >> 32);
    return static_cast<std::uint32_t>(std::uint64_t{hash} * owners >> 32);
}

/// Calls apply(source row i, table row ids[i]) for every i; calls for one row of the table come in input order.
/// Every thread looks through all ids and takes its own: no sort, and no two threads meet in a row.
template <class T, class U, class Apply>
void for_each_owned(Cpu exec, Ids<> const& ids, Tensor<U> const& src, Tensor<T>& table, Apply const& apply) {
    std::size_t const width = src.row_size();
    std::size_t const n = ids.size();
    if (width == 0) return;
    auto const touch = [&](std::size_t position, std::int64_t row) {
        prefetch_row<true>(table.data() + static_cast<std::size_t>(row) * width, width * sizeof(T));
        prefetch_row<false>(src.data() + position * width, width * sizeof(U));
    };
    auto const run = [&](std::size_t position, std::int64_t row) {
        apply(src.data() + position * width, table.data() + static_cast<std::size_t>(row) * width);
    };
    int const threads = src.size() < (std::size_t{1} << 15) ? 1 : thread_count(exec);
    ids.visit([&](auto list) {
        team(threads, [&](int t, int owners) {
            constexpr std::size_t block = 512;
            struct {
                std::size_t position;
                std::int64_t row;
            } mine[block + lookahead];  // what is this thread's, the last `lookahead` of it only asked for
            std::size_t waiting = 0;
            for (std::size_t begin = 0; begin < n; begin += block) {
                std::size_t found = waiting;
                for (std::size_t i = begin; i < std::min(n, begin + block); ++i) {
                    mine[found] = {i, list[i]};
                    found += owners == 1 || owner_of(list[i], static_cast<std::uint32_t>(owners)) == static_cast<std::uint32_t>(t);
                }
                std::size_t const ready = found > lookahead ? found - lookahead : 0;
                for (std::size_t k = waiting; k < std::min(found, lookahead); ++k) touch(mine[k].position, mine[k].row);
                for (std::size_t k = 0; k < ready; ++k) {
                    touch(mine[k + lookahead].position, mine[k + lookahead].row);
                    run(mine[k].position, mine[k].row);
                }
                waiting = found - ready;
                std::copy(mine + ready, mine + found, mine);
            }
            for (std::size_t k = 0; k < waiting; ++k) run(mine[k].position, mine[k].row);
        });
    });
}

}  // namespace rowan::inline v0::detail
