// rowan/sparse/detail/decay.hpp: decay_near_0, products of floats by one factor down to the smallest numbers.
#pragma once

#include <rowan/detail/arithmetic.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/detail/rounding.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Whether products of these floats by a factor in [0, 1] become subnormal within some steps, which processors compute a
/// hundred times slower, and decay_near_0 can take them: none is 2^-30 or more, or not a number, and this thread does not
/// replace subnormal numbers by 0.
template <class V, std::size_t K>
ROWAN_INLINE bool nears_0(V const (&x)[K], double factor, std::int64_t steps) {
    double const least = std::min(0x1p-30, 0x1p-126 / std::max(power(factor, steps), 0x1p-90));
    V const zero = constant<V>(0.0), one = constant<V>(1.0);
    V all_small = one, none_near = one;
    unrolled<K>([&](std::size_t k) ROWAN_INLINED {
        V const size = choose(x[k] < zero, V(zero - x[k]), x[k]);
        all_small = choose(size < constant<V>(0x1p-30), all_small, zero);
        none_near = choose(size < constant<V>(least), V(choose(size == zero, none_near, zero)), none_near);
    });
    if (!all_lanes<V>(all_small == one) || all_lanes<V>(none_near == one)) return false;
    float volatile const smallest = 0x1p-149F;
    return smallest * 1.0F != 0.0F;
}

/// x = factor · x + 0 for n times, in float registers: computed in doubles as multiples of the smallest float, 2^-149, of
/// which the products are exact, and which are rounded as floats are: below 2^23 of them to a whole multiple, else to 24
/// bits.
template <class V, std::size_t K>
ROWAN_INLINE void decay_near_0(V (&x)[K], double factor, std::size_t n) {
    using W = typename V::template of<double>;
    constexpr std::size_t lanes = lanes_in<W>, registers = K * lanes_in<V> / lanes;
    float kept[K * lanes_in<V>];
    unrolled<K>([&](std::size_t k) ROWAN_INLINED { store(x[k], kept + k * lanes_in<V>); });
    W const f = constant<W>(static_cast<double>(static_cast<float>(factor)));
    W const unit = constant<W>(0x1p-149), units = constant<W>(0x1p149), whole = constant<W>(0x1.8p52);
    W const normal = constant<W>(0x1p23), zero = constant<W>(0.0);
    W y[registers];
    unrolled<registers>([&](std::size_t r) ROWAN_INLINED { y[r] = product(units, load<W>(kept + r * lanes)); });
    auto const multiply = [&]() ROWAN_INLINED {
        unrolled<registers>([&](std::size_t r) ROWAN_INLINED {
            W const next = product(f, y[r]);
            W const size = choose(next < zero, W(zero - next), next);
            W const rounded = product(units, rounded_to<float>(product(unit, W(choose(size < normal, normal, next)))));
            y[r] = choose(size < normal, W(W(next + whole) - whole), rounded);
        });
    };
    for (bool same = false; n > 0 && !same;) {
        std::size_t const some = std::min<std::size_t>(n, 32);
        for (std::size_t s = 1; s < some; ++s) multiply();
        W before[registers], equal = constant<W>(1.0);
        unrolled<registers>([&](std::size_t r) ROWAN_INLINED { before[r] = y[r]; });
        multiply();
        unrolled<registers>([&](std::size_t r) ROWAN_INLINED { equal = choose(before[r] == y[r], equal, zero); });
        same = all_lanes<W>(equal == constant<W>(1.0));
        n -= some;
    }
    unrolled<registers>([&](std::size_t r) ROWAN_INLINED { store(product(unit, y[r]), kept + r * lanes); });
    unrolled<K>([&](std::size_t k) ROWAN_INLINED { x[k] = load<V>(kept + k * lanes_in<V>); });
}

}  // namespace rowan::inline v0::detail
