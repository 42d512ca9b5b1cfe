// rowan/detail/radix_sort.hpp: a stable parallel sort of integers by some of their bits.
#pragma once

#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Where the thread `t` of `threads` begins its share of n things.
inline std::size_t share_begin(std::size_t n, int t, int threads) {
    auto const [i, k] = std::pair(static_cast<std::size_t>(t), static_cast<std::size_t>(threads));
    return n / k * i + std::min(n % k, i);
}

/// Sorts `n` entries by the low `bits` bits of key(entry), least significant digit first. Entry i is `make(i)`; the
/// arrays `from` and `to` need no contents. Returns where the sorted entries are: `from` or `to`.
/// cost     (bits / 11, rounded up) passes over the entries, each reading them twice and writing them once;
///          16 KiB of memory per thread
template <class Entry, class Key, class Make>
Entry* radix_sort(int threads, std::size_t n, unsigned bits, Entry* from, Entry* to, Key key, Make make) {
    constexpr unsigned most = 11;
    unsigned const passes = std::max(1U, (bits + most - 1) / most);
    unsigned const digit_bits = std::max(1U, (bits + passes - 1) / passes);
    std::size_t const digits = std::size_t{1} << digit_bits;
    std::vector<std::vector<std::size_t>> place(static_cast<std::size_t>(threads), std::vector<std::size_t>(digits));

    team(threads, [&](int t, int team_size) {
        std::size_t const begin = share_begin(n, t, team_size);
        std::size_t const end = share_begin(n, t + 1, team_size);
        auto& mine = place[static_cast<std::size_t>(t)];
        Entry* in = from;
        Entry* out = to;
        for (std::size_t i = begin; i < end; ++i) in[i] = make(i);
        for (unsigned pass = 0; pass < passes; ++pass) {
            unsigned const shift = pass * digit_bits;
            auto const digit = [&](Entry const& e) { return static_cast<std::size_t>(key(e) >> shift) & (digits - 1); };
            mine.assign(digits, 0);
            for (std::size_t i = begin; i < end; ++i) ++mine[digit(in[i])];
            team_barrier(team_size);
            if (t == 0) {  // counts become places: digit by digit, and within a digit thread by thread
                std::size_t next = 0;
                for (std::size_t d = 0; d < digits; ++d) {
                    for (int k = 0; k < team_size; ++k)
                        next += std::exchange(place[static_cast<std::size_t>(k)][d], next);
                }
            }
            team_barrier(team_size);
            for (std::size_t i = begin; i < end; ++i) out[mine[digit(in[i])]++] = in[i];
            team_barrier(team_size);
            std::swap(in, out);
        }
    });
    return passes % 2 == 0 ? from : to;
}

}  // namespace rowan::inline v0::detail
