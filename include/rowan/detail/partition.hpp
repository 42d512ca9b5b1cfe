// rowan/detail/partition.hpp: things put into buckets by several threads, each bucket in input order.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rowan::inline v0::detail {

/// Where the thread `t` of `threads` begins its share of n things.
inline std::size_t share_begin(std::size_t n, std::size_t t, std::size_t threads) {
    return n / threads * t + std::min(n % threads, t);
}

/// The memory of a partition into `buckets` buckets by at most `threads` threads, each with room for `counters` numbers.
struct Buckets {
    Buffer<std::size_t> starts;          // where each bucket begins, and the end
    Buffer<Buffer<std::size_t>> places;  // of each thread: where its next thing of a bucket goes
    TeamBarrier barrier;

    Buckets(std::size_t buckets, int threads, std::size_t counters = 0)
        : starts(buckets + 1),
          places(static_cast<std::size_t>(threads), Buffer<std::size_t>(std::max(buckets, counters))) {}

    /// Calls put(place, i) for i in [0, n), the places being those of thing i in bucket(i). Every thread of a team must come here.
    /// cost     the things are looked at twice, by the same thread
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
        if (thread == 0) {  // counts become places: bucket by bucket, and within a bucket thread by thread
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

    /// The first bucket of share k of `shares`, which are runs of whole buckets with about as many things each; a share ends with a bucket
    /// that holds something.
    std::size_t share(std::size_t k, std::size_t shares) const;
};

}  // namespace rowan::inline v0::detail

#include <rowan/detail/partition_inl.hpp>
