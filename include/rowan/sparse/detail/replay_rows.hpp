// rowan/sparse/detail/replay_rows.hpp: replay_row and replay_two, which apply the steps that rows have missed.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/detail/replay.hpp>
#include <rowan/sparse/detail/step_history.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Applies the steps [step, end) of a history to a row of n elements, or to a part of one, with registers V.
template <class V, class Rule, class... T>
ROWAN_INLINE void replay_row(StepHistory<Rule> const& history, Shrinkage const& least, std::size_t step,
                             std::size_t end, std::size_t n, T*... p) {
    std::size_t i = 0;
    [[maybe_unused]] auto const all_of = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) ROWAN_INLINED {
        for (; i + K * lanes_in<V> <= n; i += K * lanes_in<V>) {
            LaneReplay<V, K, Rule, T...> x((p + i)...);
            x.run(history, least, step, end);
            x.save((p + i)...);
        }
    };
#ifndef __NO_INLINE__
    if constexpr (is_register<V> && LaneReplay<V, 1, Rule, T...>::waits)
        all_of(std::integral_constant<std::size_t, 8>{});
    all_of(std::integral_constant < std::size_t, is_register<V> ? 4 : 1 > {});
#endif
    // the rest, one register at a time, with zeros behind it
    for (; i < n; i += lanes_in<V>) {
        std::size_t const some = std::min(lanes_in<V>, n - i);
        [&](auto... rest) ROWAN_INLINED {
            (std::copy_n(p + i, some, rest.data()), ...);
            LaneReplay<V, 1, Rule, T...> x(rest.data()...);
            x.run(history, least, step, end);
            x.save(rest.data()...);
            (std::copy_n(rest.data(), some, p + i), ...);
        }(std::array<T, lanes_in<V>>{}...);
    }
}

/// How many elements of two rows replay_two brings up to date; 0 where that is not faster.
template <class V, class Rule, class... T>
inline constexpr std::size_t lanes_of_two =
#ifndef __NO_INLINE__
    is_register<V>&& LaneReplay<V, 1, Rule, T...>::waits ? 4 * lanes_in<V> :
#endif
                                                         0;

/// Applies the steps [first, end) to the first lanes_of_two elements of the row at `a` in each of p, and [second, end) to
/// those of the row at `b`, where first <= second: together, as far as they fill the registers.
template <class V, class Rule, class... T>
ROWAN_INLINE void replay_two(StepHistory<Rule> const& history, Shrinkage const& least, std::size_t first,
                             std::size_t second, std::size_t end, std::size_t a, std::size_t b, T*... p) {
    LaneReplay<V, 4, Rule, T...> x((p + a)...), y((p + b)...);
    x.run(history, least, first, second);
    LaneReplay<V, 8, Rule, T...> both(x, y);
    both.run(history, least, second, end);
    both.split(x, y);
    x.save((p + a)...);
    y.save((p + b)...);
}

}  // namespace rowan::inline v0::detail
