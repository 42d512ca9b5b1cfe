// rowan/detail/copy_rows.hpp: rows and blocks of rows copied from anywhere to anywhere, on several threads.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>

namespace rowan::inline v0::detail {

/// The sum of two numbers of rows. Rows of no elements take no memory, so there may be more of them than can be counted.
inline std::int64_t checked_add(char const* field, std::int64_t rows, std::int64_t more) {
    if (more <= std::numeric_limits<std::int64_t>::max() - rows) return rows + more;
    throw ShapeError(field, std::to_string(rows) + " + " + std::to_string(more), "at most 2^63 - 1");
}

/// Copies n rows of `bytes` bytes: row i from from(i) to to(i), which are pointers. Each thread calls its own copies of both, for runs of
/// ascending i that may begin anywhere.
template <class From, class To>
void copy_rows(Cpu exec, std::size_t n, std::size_t bytes, From const& from, To const& to) {
    if (bytes == 0) return;
    std::size_t const ahead = lookahead(bytes);
    bool const stream = n >= stream_from / bytes;
    std::size_t const grain = (std::size_t{256} << 10) / bytes + 64;
    parallel_for(exec, n, grain, [&](std::size_t begin, std::size_t end) {
        auto source = from;
        auto asked = from;
        auto target = to;
        for (std::size_t i = begin; i < std::min(end, begin + ahead); ++i) prefetch_row<false>(asked(i), bytes);
        for (std::size_t i = begin; i < end; ++i) {
            if (i + ahead < end) prefetch_row<false>(asked(i + ahead), bytes);
            if (stream) {
                stream_copy(target(i), source(i), bytes);
            } else {
                std::memcpy(target(i), source(i), bytes);
            }
        }
        if (stream) stream_end();
    });
}

/// Copies blocks of rows of `bytes` bytes: block i, of starts[i + 1] - starts[i] rows, from from(i) to to(i). Threads share the rows, not
/// the blocks, which may differ much in length.
template <class From, class To>
void copy_blocks(Cpu exec, std::span<std::int64_t const> starts, std::size_t bytes, From const& from, To const& to) {
    auto const rows = static_cast<std::size_t>(starts.back());
    if (rows == 0 || bytes == 0) return;
    bool const stream = rows >= stream_from / bytes;
    std::size_t const grain = (std::size_t{1} << 20) / bytes + 1;
    parallel_for(exec, rows, grain, [&](std::size_t begin, std::size_t end) {
        auto source = from;
        auto target = to;
        auto const at = [&](std::size_t i) { return static_cast<std::size_t>(starts[i]); };
        auto const after = std::ranges::upper_bound(starts, static_cast<std::int64_t>(begin));
        for (auto i = static_cast<std::size_t>(after - starts.begin()) - 1; begin < end; ++i) {
            std::size_t const last = std::min(end, at(i + 1));
            if (begin == last) continue;
            std::size_t const skipped = (begin - at(i)) * bytes;
            auto const* const in = reinterpret_cast<char const*>(source(i)) + skipped;
            auto* const out = reinterpret_cast<char*>(target(i)) + skipped;
            if (stream) {
                stream_copy(out, in, (last - begin) * bytes);
            } else {
                std::memcpy(out, in, (last - begin) * bytes);
            }
            begin = last;
        }
        if (stream) stream_end();
    });
}

}  // namespace rowan::inline v0::detail
