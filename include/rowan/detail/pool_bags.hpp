// rowan/detail/pool_bags.hpp: pool_bags, the weighted sums of bags of rows.
#pragma once

#include <rowan/core/detail/fill.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/detail/rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Contribution i of a sum is the row times weight i.
template <class T>
struct WeightedRow {
    T const* weights;
    std::size_t step = 1;  // 0: all have the same weight
    WeightedRow from(std::size_t i) const { return {weights + i * step, step}; }
    template <class V>
    ROWAN_INLINE V operator()(std::size_t i, V const& x) const {
        return product(x, V(load<sum_t<T>>(weights + i * step)));
    }
};

/// Bag b has the rows at rows[offsets[b]] to rows[offsets[b + 1]].
struct RowBags {
    std::int64_t const *offsets, *rows;
    std::size_t known;  // all rows of the array: those that follow a bag are prefetched

    std::size_t begin(std::size_t bag) const { return static_cast<std::size_t>(offsets[bag]); }
    std::size_t longest(std::size_t first, std::size_t end) const {
        std::size_t longest = 0;
        for (; first < end; ++first) longest = std::max(longest, begin(first + 1) - begin(first));
        return longest;
    }
};

/// to = map(sums), and whether all sums are finite.
template <class V, class Map, class S, class T>
ROWAN_INLINE bool map_finite(Map const& map, std::size_t width, S const* sums, T* to) {
    V odd = constant<V>(0.0);  // NaN where a sum is not finite
    S rest = constant<S>(0.0);
    zip_with<V>(
        [&]<class X>(X const& x) ROWAN_INLINED {
            if constexpr (std::is_same_v<X, V>)
                odd = odd + (x - x);
            else
                rest = rest + (x - x);
            return map(x);
        },
        width, to, sums);
    if constexpr (is_register<V>) {
        S lanes[V::size];
        odd.store(lanes);
        fold_halves(lanes, add_lanes{}, std::make_index_sequence<V::size / 2>());
        rest = rest + lanes[0];
    } else {
        rest = odd;
    }
    return rest == constant<S>(0.0);
}

/// sum / divisor
template <class S>
struct divided_by {
    S divisor;
    ROWAN_FORMULA V operator()(V const& x) const { return quotient(x, V(divisor)); }
};

/// Writes bags [first, end) to rows that are `stride` elements apart: what `fold` makes of the rows, by default their
/// sum, divided by divisor(bag). Contribution i of the array is the row as terms.from(begin of the bag) maps it. Empty
/// bags, and those with a divisor of 0, are zero. Where sums or the divisor overflow or are small, each is
/// share(bag, column, sum, divisor).
template <class V, class T, class S, class Rows, class Terms, class Divisor, class Share, class Fold = add_lanes>
ROWAN_INLINE void pool_bags(BlockSum<T, S, Rows>& sum, RowBags const& bags, std::size_t first, std::size_t end, T* to,
                            std::size_t stride, Terms const& terms, Divisor const& divisor_of, Share const& share_of,
                            Fold const& fold = {}) {
    std::size_t const width = sum.width();
    for (std::size_t bag = first; bag < end; ++bag, to += stride) {
        std::size_t const begin = bags.begin(bag), n = bags.begin(bag + 1) - begin;
        if (stride != width && bag + 16 < end) prefetch_row<true>(to + 16 * stride, width * sizeof(T));
        S const divisor = divisor_of(bag);
        if (n == 0 || divisor == constant<S>(0.0)) {
            fill_elements(to, width, dtype<T>::narrow(S{}));
            continue;
        }
        S* place = nullptr;
        if constexpr (std::is_same_v<S, T>) place = to;
        S const* const total =
            sum.template fold_with<V>(bags.rows + begin, n, bags.known - begin - n, terms.from(begin), fold, place);
        if constexpr (has_register<S>) {  // x / 1 is x
            if (total == place && divisor == constant<S>(1.0)) continue;
        }
        divided_by<S> const divide{divisor};
        if constexpr (is_machine_float<S>) {
            constexpr S small = least_squares<S> / next_to_one<S>;
            bool const usual = is_finite(divisor) && (divisor >= small || divisor <= -small);
            if (usual && map_finite<V>(divide, width, total, to)) continue;
            for (std::size_t k = 0; k < width;
                 ++k) {  // of totals, or quotients in their place, which are not finite either
                if (!usual || !is_finite(total[k])) store(share_of(bag, k, S(total[k]), divisor), to + k);
            }
        } else {
            zip_with<V>(divide, width, to, total);
        }
    }
}

}  // namespace rowan::inline v0::detail
