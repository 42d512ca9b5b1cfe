// rowan/sparse/detail/owned_rows_inl.hpp: definitions of rowan/sparse/detail/owned_rows.hpp.
#pragma once

#include <rowan/sparse/detail/owned_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/storage.hpp>
#include <rowan/detail/partition.hpp>

#include <atomic>

namespace rowan::inline v0::detail {

template <class List>
void run_by_parts(int threads, AnyRowJob const& job, Ids<> const& ids, List list, TableParts const& parts) {
    std::size_t const chunk = std::min(list.size(), std::size_t{1} << parts.chunk_bits);
    Buckets buckets(parts.buckets(), threads);
    auto const& starts = buckets.starts;
    Storage<std::uint64_t> order(chunk);
    for (std::size_t begin = 0; begin < list.size(); begin += chunk) {
        std::size_t const count = std::min(chunk, list.size() - begin);
        auto const bucket = [&](std::size_t i) { return parts.bucket(list[begin + i]); };
        auto const put = [&](std::size_t place, std::size_t i) { order[place] = parts.pack(i, list[begin + i]); };
        buckets.fill(count, bucket, put);

        LookupOrder const pair{ids, order.data(), parts.chunk_bits, begin};
        std::atomic<std::size_t> next{0};
        auto const size = static_cast<std::size_t>(threads);
        team(threads, [&](std::size_t me) {
            std::size_t const shares = size * 16;
            std::size_t const popular = 2 * (count / shares + 1);
            for (std::size_t k = next++; k < shares; k = next++) {
                std::size_t const first = buckets.share(k, shares);
                std::size_t last = buckets.share(k + 1, shares);
                // a popular bucket is longer than two shares, so it is the last of its share
                if (last > first && starts[last] - starts[last - 1] > popular) --last;
                job.run(0, 1, starts[first], starts[last], pair);
            }
            std::size_t const groups = std::clamp<std::size_t>(job.lines / 2, 1, size);
            std::size_t turn = 0;
            for (std::size_t b = 0; b < parts.buckets(); ++b) {
                if (starts[b + 1] - starts[b] <= popular) continue;
                for (std::size_t g = 0; g < groups; ++g) {
                    if (turn++ % size == me) job.run(g, groups, starts[b], starts[b + 1], pair);
                }
            }
        });
    }
}

ROWAN_CALLED_FUNCTION void run_by_parts(int threads, AnyRowJob const& job, Ids<> const& ids, TableParts const& parts) {
    ids.visit([&](auto list) { run_by_parts(threads, job, ids, list, parts); });
}

}  // namespace rowan::inline v0::detail

#endif
