// rowan/detail/partition.hpp: Buckets, a stable parallel partition of items into buckets.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rowan::inline v0::detail {

/// The first item of share t when n items are divided into `shares` shares.
inline std::size_t share_begin(std::size_t n, std::size_t t, std::size_t shares) {
    return n / shares * t + std::min(n % shares, t);
}

/// The memory of a partition into `buckets` buckets by at most `threads` threads, with `counters` or more counters
/// each.
struct Buckets {
    Buffer<std::size_t> starts;          // the offset of each bucket, and the number of items
    Buffer<Buffer<std::size_t>> places;  // per share of the items and bucket: the place of its next item

    Buckets(std::size_t buckets, int threads, std::size_t counters = 0)
        : starts(buckets + 1),
          places(static_cast<std::size_t>(threads), Buffer<std::size_t>(std::max(buckets, counters))) {}

    /// Calls put(place, i) for i in [0, n), where `place` is the place of item i in bucket(i). The items of a
    /// bucket are in input order.
    /// cost     two passes over the items, on one thread per element of `places`
    template <class Bucket, class Put>
    void fill(std::size_t n, Bucket const& bucket, Put const& put) {
        std::size_t const shares = places.size();
        std::size_t const buckets = starts.size() - 1;
        team(static_cast<int>(shares), [&](std::size_t t) {
            std::size_t* const mine = places[t].data();
            std::size_t const end = share_begin(n, t + 1, shares);
            std::fill_n(mine, buckets, std::size_t{0});
            for (std::size_t i = share_begin(n, t, shares); i < end; ++i) ++mine[bucket(i)];
        });
        std::size_t next = 0;  // exclusive prefix sum of the counts, by bucket and then by share
        for (std::size_t b = 0; b < buckets; ++b) {
            starts[b] = next;
            for (std::size_t k = 0; k < shares; ++k) next += std::exchange(places[k][b], next);
        }
        starts[buckets] = n;
        team(static_cast<int>(shares), [&](std::size_t t) {
            std::size_t* const mine = places[t].data();
            std::size_t const end = share_begin(n, t + 1, shares);
            for (std::size_t i = share_begin(n, t, shares); i < end; ++i) put(mine[bucket(i)]++, i);
        });
    }

    /// The first bucket of share k of `shares`. Shares are ranges of whole buckets with about equally many items; the
    /// last bucket of a share is not empty.
    ROWAN_IF_CALLED std::size_t share(std::size_t k, std::size_t shares) const;
};

}  // namespace rowan::inline v0::detail

#include <rowan/detail/partition_inl.hpp>
