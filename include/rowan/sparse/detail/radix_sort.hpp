// rowan/sparse/detail/radix_sort.hpp: radix_sort, a stable parallel sort by integer keys.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/partition.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0::detail {

/// The number of passes of a sort by `key_bits` bits, and the bits per digit.
struct Digits {
    static constexpr unsigned most = 12;  // the counters of one pass fit the L1 cache

    unsigned passes;
    unsigned bits;

    explicit Digits(unsigned key_bits)
        : passes((key_bits + most - 1) / most), bits(passes == 0 ? 0 : (key_bits + passes - 1) / passes) {}
    std::size_t count() const { return std::size_t{1} << bits; }
};

/// Sorts n entries on one thread, least significant digit first; `next` has a counter for each digit value.
/// Returns the array with the sorted entries: `from` after an even number of passes, else `to`.
template <class Entry, class Key>
Entry* sort_digits(Digits digits, std::size_t n, Entry* from, Entry* to, Key const& key, std::size_t* next) {
    for (unsigned pass = 0; pass < digits.passes; ++pass) {
        auto const digit = [&](Entry const& e) {
            return static_cast<std::size_t>(key(e) >> (pass * digits.bits)) & (digits.count() - 1);
        };
        std::fill_n(next, digits.count(), std::size_t{0});
        for (std::size_t i = 0; i < n; ++i) ++next[digit(from[i])];
        if (n != 0 && next[digit(*from)] == n) {  // all have the same digit, e.g. many lookups of one row
            std::swap(from, to);
            std::copy_n(to, n, from);
            continue;
        }
        std::size_t place = 0;
        for (std::size_t d = 0; d < digits.count(); ++d) place += std::exchange(next[d], place);
        for (std::size_t i = 0; i < n; ++i) to[next[digit(from[i])]++] = from[i];
        std::swap(from, to);
    }
    return from;
}

/// The first keys of the key ranges of all threads except the first: quantiles of evenly spaced samples.
template <class Key>
Buffer<std::uint64_t> splitters(std::size_t threads, std::size_t n, Key const& key) {
    std::size_t const samples = std::min(n, 64 * threads);
    Buffer<std::uint64_t> keys(samples);
    for (std::size_t i = 0; i < samples; ++i) keys[i] = key(share_begin(n, i, samples));
    std::sort(keys.begin(), keys.end());
    Buffer<std::uint64_t> first(threads - 1);
    for (std::size_t t = 1; t < threads; ++t) first[t - 1] = keys[share_begin(samples, t, threads)];
    return first;
}

/// Stable sort of the entries make(0) … make(n - 1) by key(entry), which is less than 2^bits. The arrays `a` and `b`
/// have room for n entries and may be uninitialised. Returns the array with the sorted entries, a or b.
/// cost     (bits / 12, rounded up) passes over the entries, each reading them twice and writing them once. Several
///          threads first partition the entries by key range, then each sorts its range: data moves between cores once.
template <class Entry, class Key, class Make>
Entry* radix_sort(int threads, std::size_t n, unsigned bits, Entry* a, Entry* b, Key const& key, Make const& make) {
    if (bits == 0 || n == 0) threads = 1;
    Digits const digits(bits);
    auto const ranges = static_cast<std::size_t>(threads);
    auto const first = splitters(ranges, n, [&](std::size_t i) { return static_cast<std::uint64_t>(key(make(i))); });
    Buckets buckets(ranges, threads, digits.count());
    auto const range = [&](std::size_t i) {
        std::uint64_t const k = key(make(i));
        std::size_t r = 0;
        for (std::uint64_t const f : first) r += k >= f;
        return r;
    };
    buckets.fill(n, range, [&](std::size_t place, std::size_t i) { a[place] = make(i); });
    team(threads, [&](std::size_t r) {
        std::size_t const begin = buckets.starts[r];
        sort_digits(digits, buckets.starts[r + 1] - begin, a + begin, b + begin, key, buckets.places[r].data());
    });
    return digits.passes % 2 == 0 ? a : b;
}

}  // namespace rowan::inline v0::detail
