// rowan/sparse/detail/replay.hpp: LaneReplay, which applies steps that elements have missed.
#pragma once

#include <rowan/core/detail/bit_cast.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/detail/coast.hpp>
#include <rowan/sparse/detail/decay.hpp>
#include <rowan/sparse/detail/rounding.hpp>
#include <rowan/sparse/detail/step_history.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// What a square, and a parameter that only decays, are multiplied by at least: in a group of steps, and in `far` ones.
struct Shrinkage {
    bool known = false;  ///< whether the Coast of all steps is of use
    double squares[2]{}, kept[2]{};
};

/// K registers V of elements of a row, or elements V on a device: of the parameter, T0, and of the states.
template <class V, std::size_t K, class Rule, class... T>
class LaneReplay {
    using S = typename lane_of<V>::type;
    using states = std::make_index_sequence<sizeof...(T) - 1>;
    template <std::size_t i>
    using type = std::tuple_element_t<i, std::tuple<T...>>;
    using P = type<0>;
    static constexpr std::size_t squares = coast_states<Rule>::squares, under_root = coast_states<Rule>::under_root;
    static constexpr std::size_t moves =
        coast_states<Rule>::moves == last_state ? sizeof...(T) - 2 : coast_states<Rule>::moves;
    /// Whether this file knows how numbers of the types are rounded.
    static constexpr bool bounded = is_machine_float<S> && ((rounding<T> > 0.0) && ...);

    template <class, std::size_t, class, class...>
    friend class LaneReplay;

public:
    static constexpr std::size_t lanes = K * lanes_in<V>;
    /// Whether steps are products alone, each of which waits for the one before: twice the registers take no longer.
    static constexpr bool waits = squares == no_such_state;

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE explicit LaneReplay(T*... p) {
        unrolled<K>([&](std::size_t k) ROWAN_INLINED {
            std::size_t i = 0;
            ((x_[i++][k] = load<V>(p + k * lanes_in<V>)), ...);
        });
    }
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE void save(T*... p) const {
        unrolled<K>([&](std::size_t k) ROWAN_INLINED {
            std::size_t i = 0;
            (store(x_[i++][k], p + k * lanes_in<V>), ...);
        });
    }

    /// Registers of two rows, and these again.
    template <std::size_t half>
    ROWAN_INLINE LaneReplay(LaneReplay<V, half, Rule, T...> const& a, LaneReplay<V, half, Rule, T...> const& b) {
        static_assert(2 * half == K);
        unrolled<sizeof...(T) * half>([&](std::size_t k) ROWAN_INLINED {
            x_[k / half][k % half] = a.x_[k / half][k % half];
            x_[k / half][half + k % half] = b.x_[k / half][k % half];
        });
    }
    template <std::size_t half>
    ROWAN_INLINE void split(LaneReplay<V, half, Rule, T...>& a, LaneReplay<V, half, Rule, T...>& b) const {
        unrolled<sizeof...(T) * half>([&](std::size_t k) ROWAN_INLINED {
            a.x_[k / half][k % half] = x_[k / half][k % half];
            b.x_[k / half][k % half] = x_[k / half][half + k % half];
        });
    }

    static Shrinkage shrinkage(Coast const& coast) {
        // an epsilon of 0 may give 0 / 0
        Shrinkage least{.known = coast.known && static_cast<S>(coast.epsilon) != S(0)};
        std::int64_t const steps[] = {group, far};
        for (std::size_t i = 0; i < 2; ++i) {
            if constexpr (squares != no_such_state)
                least.squares[i] = least_factor<type<1 + squares>>(coast.factors[squares], steps[i]);
            least.kept[i] = least_factor<P>(coast.least_kept, steps[i]);
        }
        return least;
    }

    /// Applies the steps [step, end) of a StepHistory, or of its copy on a device.
    ROWAN_NO_EXEC_CHECK
    template <class History>
    ROWAN_HD_INLINE void run(History const& history, Shrinkage const& least, std::size_t step, std::size_t end) {
        if constexpr (bounded) {
            if (least.known && rests(history.ahead(step))) return;
        }
        while (step < end) {
            std::size_t n = smaller(group * (squares == no_such_state ? 4 : 1), end - step);
            if constexpr (bounded) {
                Moves how = Moves::fully;
                if (least.known) {
                    // what all steps ahead allow, or the nearest, where it pays: roots are dearer than this
                    for (std::size_t range = squares == no_such_state ? 1 : 0; range < 2; ++range) {
                        Moves const then = test(range == 0 ? history.near(step) : history.ahead(step), least, range);
                        if (then == Moves::fully) break;
                        how = then;
                        std::size_t const most = range == 0 ? group : far;
                        n = smaller(most, end - step);
                    }
                }
                if (how != Moves::fully) {
                    if (how == Moves::shrinks) shrink(history, step, n);
                    decay(history.ahead(step), n);
                    step += n;
                    continue;
                }
            }
            LaneReplay before = *this;
            bool constant_steps = false;
            if constexpr (waits) constant_steps = history.same_from(step);
            if (constant_steps) {
                Rule const rule = history[step];  // whose numbers stay in registers
                for (std::size_t i = 1; i < n; ++i) apply(rule);
                before = *this;
                apply(rule);
                step += n;
            } else {
                for (std::size_t i = 0; i < n; ++i, ++step) {
                    if (i + 1 == n) before = *this;
                    apply(history[step]);
                }
            }
            if (history.same_from(step - 1) && !differs_from(before)) return;
        }
    }

private:
    enum class Moves { not_at_all, shrinks, fully };
    static constexpr std::size_t group = StepHistory<Rule>::group, far = 512;  // steps
    template <class Q>
    static constexpr double lost = std::max(underflow<Q>, underflow<S>);

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE static V magnitude(V const& x) { return choose(x < constant<V>(0.0), V(constant<V>(0.0) - x), x); }

    template <class Q>
    static double least_factor(double factor, std::int64_t steps) {
        double const least = power(factor * (1.0 - 2 * std::max(rounding<Q>, rounding<S>)), steps) * (1.0 - 0x1p-12);
        return least < 4 * underflow<S> ? 0.0 : least;  // no subnormal number, whose rounding errors are large
    }

    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE void apply(Rule const& rule) {
        rule.visit([&](auto const& formula) ROWAN_INLINED {
            unrolled<K>([&](std::size_t k) ROWAN_INLINED {
                V const zero = constant<V>(0.0);
                [&]<std::size_t... i>(std::index_sequence<i...>) ROWAN_INLINED {
                    formula(zero, x_[i][k]...);
                    ((x_[i][k] = rounded_to<T>(x_[i][k])), ...);
                }
                (std::index_sequence_for<T...>{});
            });
        });
    }

    /// Whether a bit differs, where this file knows how to compare them.
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE bool differs_from([[maybe_unused]] LaneReplay const& other) const {
        if constexpr (bounded && !is_register<V>) {
            using Bits = std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>;
            bool same = true;
            unrolled<sizeof...(T) * K>([&](std::size_t k) ROWAN_INLINED {
                same = same && bit_cast<Bits>(x_[k / K][k % K]) == bit_cast<Bits>(other.x_[k / K][k % K]);
            });
            return !same;
        } else if constexpr (bounded) {
            S a[sizeof...(T) * lanes], b[sizeof...(T) * lanes];
            unrolled<sizeof...(T) * K>([&](std::size_t k) ROWAN_INLINED {
                store(x_[k / K][k % K], a + k * lanes_in<V>);
                store(other.x_[k / K][k % K], b + k * lanes_in<V>);
            });
            return std::memcmp(a, b, sizeof a) != 0;
        } else {
            return true;
        }
    }

    /// Whether these steps change nothing, as all states are 0: so it is in rows that have had no gradient.
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE bool rests(Coast const& coast) {
        if (coast.least_kept != 1.0) return false;
        V most = constant<V>(0.0);
        unrolled<(sizeof...(T) - 1) * K>([&](std::size_t k) ROWAN_INLINED {
            V const x = x_[1 + k / K][k % K];
            most = choose(x == constant<V>(0.0), most, constant<V>(1.0));
        });
        if (!all_lanes<V>(most == constant<V>(0.0))) return false;
        unrolled<(sizeof...(T) - 1) * K>([&](std::size_t k) ROWAN_INLINED {
            x_[1 + k / K][k % K] = constant<V>(0.0);  // of -0
        });
        return true;
    }

    /// How the parameter moves in the steps of a range, 0 or 1 of Shrinkage, with this bound.
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE Moves test(Coast const& coast, Shrinkage const& least, std::size_t range) const {
        constexpr double wide = 1.0 + 0x1p-12;  // for the roundings of the formula and of this
        double const steps = static_cast<double>(range == 0 ? group : far);
        V const zero = constant<V>(0.0), shrinks = constant<V>(1.0), stays = constant<V>(2.0);
        V all = stays;
        unrolled<K>([&](std::size_t k) ROWAN_INLINED {
            V most = zero;
            if constexpr (moves != no_such_state) {
                V const x = x_[1 + moves][k];
                most = product(magnitude(x), constant<V>(coast.scale * wide)) +
                       constant<V>(4 * underflow<S> * (coast.rate + 1));
                if constexpr (squares != no_such_state) {
                    V const square = product(x_[1 + squares][k], constant<V>(least.squares[range] / coast.correction)) -
                                     constant<V>((steps + 2) * lost<type<1 + squares>> / coast.correction);
                    V const root = square_root(V(choose(square > zero, square, zero))) + constant<V>(coast.epsilon);
                    most = product(quotient(most, root), constant<V>(wide));
                }
                most = choose(x == zero, zero, V(most + constant<V>(underflow<S>)));
            }
            V const p = x_[0][k];
            V const a = product(constant<V>(coast.least_kept), p), b = product(constant<V>(coast.most_kept), p);
            V const below = rounded_to<P>(V(choose(a < b, a, b) - most));
            V const above = rounded_to<P>(V(choose(a < b, b, a) + most));
            V how = zero;
            if constexpr (moves == no_such_state) {
                how = shrinks;
            } else if (coast.least_kept < 1.0) {
                // a move of less than half of the distance to the next number is rounded away
                V const size = product(magnitude(p), constant<V>(least.kept[range])) - constant<V>(steps * lost<P>);
                how = choose(most < product(size, constant<V>(rounding<S> / 4)), shrinks, zero);
            }
            how = choose(below == p && above == p, stays, how);
            how = choose(p == zero && most > zero, zero, how);  // whose sign a move of 0 or near 0 may change
            // infinities and roots of negative numbers go on as the formula says
            [&]<std::size_t... i>(std::index_sequence<i...>) ROWAN_INLINED {
                ((how = choose(V(x_[1 + i][k] - x_[1 + i][k]) == zero, how, zero)), ...);
            }
            (states{});
            if constexpr (under_root != no_such_state) how = choose(x_[1 + under_root][k] >= zero, how, zero);
            all = choose(how < all, how, all);
        });
        if (all_lanes<V>(all == stays)) return Moves::not_at_all;
        return all_lanes<V>(all >= shrinks) ? Moves::shrinks : Moves::fully;
    }

    ROWAN_NO_EXEC_CHECK
    template <class History>
    ROWAN_HD_INLINE void shrink(History const& history, std::size_t step, std::size_t n) {
        auto const multiply = [&](V const& kept) ROWAN_INLINED {
            unrolled<K>([&](std::size_t k) ROWAN_INLINED { x_[0][k] = rounded_to<P>(product(kept, x_[0][k])); });
        };
        V const first = constant<V>(kept_of(history[step]));
        if (history.ahead(step).least_kept == history.ahead(step).most_kept) {
            for (std::size_t s = 0; s < n; ++s) multiply(first);
        } else {
            for (std::size_t s = step; s < step + n; ++s) multiply(constant<V>(kept_of(history[s])));
        }
    }

    /// The states after n steps.
    ROWAN_NO_EXEC_CHECK
    ROWAN_HD_INLINE void decay(Coast const& coast, std::size_t n) {
        [&]<std::size_t... i>(std::index_sequence<i...>) ROWAN_INLINED {
            (decay_state<1 + i>(coast.factors[i], n), ...);
        }
        (states{});
    }
    ROWAN_NO_EXEC_CHECK
    template <std::size_t i>
    ROWAN_HD_INLINE void decay_state(double factor, std::size_t n) {
        if (factor == 1.0) n = 1;  // it stays, but -0 becomes 0
        V const f = constant<V>(factor), zero = constant<V>(0.0), one = constant<V>(1.0);
        // a state that ends as -0 is 0 after the next step; in registers, only the last step can tell
        constexpr bool narrow = !std::is_same_v<type<i>, S>;
        auto const multiply = [&]() ROWAN_INLINED {
            unrolled<K>([&](std::size_t k) ROWAN_INLINED {
                V next = product(f, x_[i][k]);
                if constexpr (narrow) next = next + zero;
                x_[i][k] = rounded_to<type<i>>(next);
            });
        };
        bool same = false;
        while (n > 0 && !same) {
            std::size_t const some = smaller(n, std::size_t{32});
            if constexpr (is_register<V> && std::is_same_v<type<i>, float> && std::is_same_v<S, float>) {
                if (nears_0(x_[i], factor, 32)) return decay_near_0(x_[i], factor, n);
            }
            for (std::size_t s = 1; s < some; ++s) multiply();
            V before[K], equal = one;
            unrolled<K>([&](std::size_t k) ROWAN_INLINED { before[k] = x_[i][k]; });
            multiply();
            unrolled<K>([&](std::size_t k) ROWAN_INLINED { equal = choose(before[k] == x_[i][k], equal, zero); });
            same = all_lanes<V>(equal == one);
            n -= some;
        }
        if constexpr (!narrow) unrolled<K>([&](std::size_t k) ROWAN_INLINED { x_[i][k] = x_[i][k] + zero; });
    }

    V x_[sizeof...(T)][K];
};

}  // namespace rowan::inline v0::detail
