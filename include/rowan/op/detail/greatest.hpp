// rowan/op/detail/greatest.hpp: the positions of the greatest numbers, in order.
#pragma once

#include <rowan/detail/extremes.hpp>
#include <rowan/op/operator.hpp>

#include <concepts>

namespace rowan::inline v0::detail {

/// Finds the k greatest of the numbers number(begin), …, number(end - 1), which are k or more: writes their positions
/// to `top`, in descending order. Of equal numbers, the first comes first; NaN is the greatest. O(n log k) steps without
/// other memory: insertion, until it has moved more than a heap would, then a heap.
template <class Number>
struct Greatest {
    Number number;
    std::int64_t* top;
    std::size_t k;

    ROWAN_KERNEL void operator()(std::int64_t begin, std::int64_t end) const {
        more_extreme<true> const more;
        std::size_t moves = 4 * static_cast<std::size_t>(end - begin), kept = 0;
        for (std::size_t i = k; i != 0; i /= 2) moves += 4 * static_cast<std::size_t>(end - begin);
        for (std::int64_t at = begin; kept < k || (at = next(at, end, top[k - 1])) < end; ++at) {
            std::size_t place = kept < k ? kept++ : k - 1;
            auto const now = number(at);
            bool is_number = false;  // then > is enough
            if constexpr (std::is_arithmetic_v<std::remove_const_t<decltype(now)>>) is_number = now == now;
            for (; place != 0; --place, --moves) {
                auto const least = number(top[place - 1]);
                if (!(is_number ? now > least : more(now, least))) break;
                top[place] = top[place - 1];
            }
            top[place] = at;
            if (moves < k) return by_heap(at + 1, end, kept);
        }
    }

private:
    /// Continues from position `at` on, of the positions before which `kept` are in `top`.
    ROWAN_KERNEL void by_heap(std::int64_t at, std::int64_t end, std::size_t kept) const {
        for (; kept < k; ++at) top[kept++] = at;
        for (std::size_t i = k / 2; i-- != 0;) sift(i, k, top[i]);
        for (; (at = next(at, end, top[0])) < end; ++at) sift(0, k, at);
        for (std::size_t i = k - 1; i != 0; --i) {
            std::int64_t const last = top[i];
            top[i] = top[0];
            sift(0, i, last);
        }
    }

    /// The first position from `at` on whose number is greater than that of `least`, else end.
    ROWAN_KERNEL std::int64_t next(std::int64_t at, std::int64_t end, std::int64_t least) const {
        auto const than = number(least);
        if constexpr (std::floating_point<std::remove_const_t<decltype(than)>>) {
            if (than != than) return end;
            while (at < end && number(at) <= than) ++at;
        } else {
            more_extreme<true> const more;
            while (at < end && !more(number(at), than)) ++at;
        }
        return at;
    }

    /// Writes a position to place i of a heap of n, which is free, or below. A parent comes after its children.
    ROWAN_KERNEL void sift(std::size_t i, std::size_t n, std::int64_t at) const {
        for (std::size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
            if (child + 1 < n && before(top[child], top[child + 1])) ++child;
            if (!before(at, top[child])) break;
            top[i] = top[child];
            i = child;
        }
        top[i] = at;
    }

    ROWAN_KERNEL bool before(std::int64_t a, std::int64_t b) const {
        more_extreme<true> const more;
        auto const x = number(a), y = number(b);
        return more(x, y) || (a < b && !more(y, x));
    }
};

}  // namespace rowan::inline v0::detail
