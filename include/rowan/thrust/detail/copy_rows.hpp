// rowan/thrust/detail/copy_rows.hpp: copy_device_rows, which gathers and scatters rows in device memory.
#pragma once

#include <rowan/thrust/core/detail/system.hpp>
#include <rowan/thrust/detail/lane.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// The largest of 16, 8, 4, 2 and 1 that divides all three numbers.
inline std::size_t common_word(std::size_t a, std::size_t b, std::size_t c) {
    std::size_t const bits = a | b | c | 16;
    return bits & (~bits + 1);
}

template <std::size_t bytes>
struct alignas(bytes) Word {
    unsigned char x[bytes];
};

/// Copies one word of row source(i) to row target(i), where i = k / words. A source of -1 is skipped.
template <class W, class Source, class Target>
struct CopyWord {
    W const* from;
    W* to;
    FastDivmod words;  // per row
    Source source;
    Target target;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = words.quotient(k);
        std::size_t const word = k - i * words.by;
        std::int64_t const row = source(i);
        if (row >= 0)
            to[static_cast<std::size_t>(target(i)) * words.by + word] =
                from[static_cast<std::size_t>(row) * words.by + word];
    }
};

struct SameRow {
    ROWAN_HD std::int64_t operator()(std::size_t i) const { return static_cast<std::int64_t>(i); }
};

/// ids[i]
template <class I>
struct RowAt {
    I const* ids;
    ROWAN_HD std::int64_t operator()(std::size_t i) const { return ids[i]; }
};

/// Calls f.operator()<W>() with the widest word that divides `bytes` and to which the addresses p and q are aligned.
template <class F>
void with_word(std::size_t bytes, void const* p, void const* q, F const& f) {
    switch (common_word(bytes, reinterpret_cast<std::uintptr_t>(p), reinterpret_cast<std::uintptr_t>(q))) {
        case 16:
            return f.template operator()<Word<16>>();
        case 8:
            return f.template operator()<Word<8>>();
        case 4:
            return f.template operator()<Word<4>>();
        case 2:
            return f.template operator()<Word<2>>();
        default:
            return f.template operator()<Word<1>>();
    }
}

/// Copies n rows of `bytes` bytes: row source(i) of `from` to row target(i) of `to`. Both functions are called on the
/// device. With `always`, copies even if an earlier call has failed: for a `to` in new memory.
template <thrust_device D, class Source, class Target>
void copy_device_rows(D const& exec, std::size_t n, std::size_t bytes, void const* from, void* to, Source const& source,
                      Target const& target, bool always = false) {
    if (n == 0 || bytes == 0) return;
    with_word(bytes, from, to, [&]<class W>() {
        std::size_t const words = bytes / sizeof(W);
        CopyWord<W, Source, Target> const copy{static_cast<W const*>(from), static_cast<W*>(to), FastDivmod(words),
                                               source, target};
        always ? launch_always(exec, n * words, copy) : launch(exec, n * words, copy);
    });
}

}  // namespace rowan::inline v0::detail
