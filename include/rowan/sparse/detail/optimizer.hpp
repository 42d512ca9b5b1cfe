// rowan/sparse/detail/optimizer.hpp: checks of the optimizers.
#pragma once

#include <rowan/sparse/lane_rule.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Whether `G` is a gradient type of optimizers on `D`.
template <class G, class D>
inline constexpr bool is_gradient_on = false;
template <class T, class D>
inline constexpr bool is_gradient_on<Tensor<T, D>, D> = true;
template <class T, class D>
inline constexpr bool is_gradient_on<SelectedRows<T, D>, D> = true;
template <class G, class D>
concept gradient_on = is_gradient_on<G, D>;

template <class G, class... P>
constexpr void check_types() {
    static_assert((!std::integral<sum_t<P>> && ...),
                  "rowan: an optimizer needs a parameter of a floating-point type: for integers use scatter_add");
    static_assert((computes_from<P, G, P...> && ...),
                  "rowan: these element types cannot be combined: their dtype<T>::sum need a common type that "
                  "converts to each");
}

/// Checks that a number is finite in the type in which formulas over `P...` are computed.
template <class... P>
void check_setting(char const* field, double value) {
    check_finite(field, value);
    if constexpr (std::floating_point<compute_t<P...>>) {
        if (std::abs(value) > static_cast<double>(std::numeric_limits<compute_t<P...>>::max())) {
            throw ValueError(field, value, "a number that fits the type of computation");
        }
    }
}

/// The same for an epsilon, which must not be negative: it is added to avoid a division by 0.
template <class... P>
void check_epsilon(double epsilon) {
    check_setting<P...>("epsilon", epsilon);
    if (epsilon < 0) throw ValueError("epsilon", epsilon, "0 or more");
}

/// Checks that a decay rate is in [0, 1).
inline void check_decay(char const* field, double value) {
    if (!(value >= 0.0 && value < 1.0)) throw ValueError(field, value, "a number in [0, 1)");
}

}  // namespace rowan::inline v0::detail
