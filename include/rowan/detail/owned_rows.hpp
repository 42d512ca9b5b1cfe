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

/// Calls apply(n, from, to) with stretches of source row i and of table row ids[i], for all i and so that together they cover the rows;
/// calls for one element of the table come in input order. Threads share the columns as far as rows are wide enough, for that needs no
/// search and no row can be too popular; beyond that, each looks through all ids and takes its own. No sort, and no two threads meet.
template <class T, class U, class Apply>
void for_each_owned(Cpu exec, Ids<> const& ids, Tensor<U> const& src, Tensor<T>& table, Apply const& apply) {
    std::size_t const width = src.row_size();
    std::size_t const n = ids.size();
    std::size_t const ahead = lookahead(width * sizeof(T));
    int const threads = threads_for(exec, src.size());
    if (width == 0) return;
    ids.visit([&](auto list) {
        team(threads, [&](int thread, int team_size) {
            std::size_t const groups =
                std::clamp<std::size_t>(width * sizeof(T) / 128, 1, static_cast<std::size_t>(team_size));
            std::size_t const owners = static_cast<std::size_t>(team_size) / groups;
            std::size_t const group = static_cast<std::size_t>(thread) % groups;
            std::size_t const me = static_cast<std::size_t>(thread) / groups;
            if (me >= owners) return;  // a team that does not divide evenly has threads to spare
            std::size_t const per_line = std::max<std::size_t>(64 / sizeof(T), 1);
            std::size_t const lines = (width + per_line - 1) / per_line;
            std::size_t const column = lines * group / groups * per_line;
            std::size_t const columns = std::min(width, lines * (group + 1) / groups * per_line) - column;
            U const* const from = src.data() + column;
            T* const to = table.data() + column;
            auto const ask = [&](std::size_t position, std::int64_t row) {
                prefetch_row<true>(to + static_cast<std::size_t>(row) * width, columns * sizeof(T));
                prefetch_row<false>(from + position * width, columns * sizeof(U));
            };
            auto const run = [&](std::size_t position, std::int64_t row) {
                apply(columns, from + position * width, to + static_cast<std::size_t>(row) * width);
            };
            if (owners == 1) {
                for (std::size_t i = 0; i < std::min(n, ahead); ++i) ask(i, list[i]);
                for (std::size_t i = 0; i < n; ++i) {
                    if (i + ahead < n) ask(i + ahead, list[i + ahead]);
                    run(i, list[i]);
                }
                return;
            }
            constexpr std::size_t block = 256;
            struct {
                std::size_t position;
                std::int64_t row;
            } mine[block + 64];  // what is this thread's, the last `ahead` of it only asked for
            std::size_t waiting = 0;
            for (std::size_t begin = 0; begin < n; begin += block) {
                std::size_t found = waiting;
                for (std::size_t i = begin; i < std::min(n, begin + block); ++i) {
                    mine[found] = {i, list[i]};
                    found += owner_of(list[i], static_cast<std::uint32_t>(owners)) == me;
                }
                std::size_t const ready = found > ahead ? found - ahead : 0;
                for (std::size_t k = waiting; k < std::min(found, ahead); ++k) ask(mine[k].position, mine[k].row);
                for (std::size_t k = 0; k < ready; ++k) {
                    ask(mine[k + ahead].position, mine[k + ahead].row);
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
