// rowan/detail/partition.hpp: Buckets, a stable parallel partition of items into buckets.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rowan::inline v0::detail {

/// The first item of the share of thread `t` when n items are divided among `threads` threads.
inline std::size_t share_begin(std::size_t n, std::size_t t, std::size_t threads) {
    return n / threads * t + std::min(n % threads, t);
}

/// The memory of a partition into `buckets` buckets by at most `threads` threads, with `counters` or more counters
/// each.
struct Buckets {
    Buffer<std::size_t> starts;          // the offset of each bucket, and the number of items
    Buffer<Buffer<std::size_t>> places;  // per thread and bucket: the place of its next item
    TeamBarrier barrier;

    Buckets(std::size_t buckets, int threads, std::size_t counters = 0)
        : starts(buckets + 1),
          places(static_cast<std::size_t>(threads), Buffer<std::size_t>(std::max(buckets, counters))) {}

    /// Calls put(place, i) for i in [0, n), where `place` is the place of item i in bucket(i). The items of a
    /// bucket are in input order.
    /// requires   every thread of the team calls it
    /// cost     two passes over the items, both by the same thread
    template <class Bucket, class Put>
    void fill(int thread, int team_size, std::size_t n, Bucket const& bucket, Put const& put) {
        auto const [t, threads] = std::pair(static_cast<std::size_t>(thread), static_cast<std::size_t>(team_size));
        std::size_t const begin = share_begin(n, t, threads);
        std::size_t const end = share_begin(n, t + 1, threads);
        std::size_t const buckets = starts.size() - 1;
        std::size_t* const mine = places[t].data();
        std::fill_n(mine, buckets, std::size_t{0});
        for (std::size_t i = begin; i < end; ++i) ++mine[bucket(i)];
        barrier.wait(team_size);
        if (thread == 0) {  // exclusive prefix sum of the counts, by bucket and then by thread
            std::size_t next = 0;
            for (std::size_t b = 0; b < buckets; ++b) {
                starts[b] = next;
                for (std::size_t k = 0; k < threads; ++k) next += std::exchange(places[k][b], next);
            }
            starts[buckets] = n;
        }
        barrier.wait(team_size);
        for (std::size_t i = begin; i < end; ++i) put(mine[bucket(i)]++, i);
        barrier.wait(team_size);
    }

    /// The first bucket of share k of `shares`. Shares are ranges of whole buckets with about equally many items; the
    /// last bucket of a share is not empty.
    std::size_t share(std::size_t k, std::size_t shares) const;
};

}  // namespace rowan::inline v0::detail

#include <rowan/detail/partition_inl.hpp>
