// rowan/sparse/detail/scaled_norm.hpp: SquaredNorm, a sum of squares of any finite numbers.
#pragma once

#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/sparse/scale.hpp>
#include <rowan/sparse/selected_rows.hpp>
#include <rowan/sparse/squared_norm.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace rowan::inline v0::detail {

/// A sum of squares, sum / scale²: a double alone would overflow or vanish for some gradients of doubles.
struct SquaredNorm {
    double sum = 0, scale = 1;  // a power of two

    SquaredNorm& operator+=(SquaredNorm const& x) {
        if (x.sum == 0) return *this;
        if (sum == 0) return *this = x;
        double const total = sum + x.sum;
        bool const overflow = !(total <= std::numeric_limits<double>::max()) && scale >= 1 && x.scale >= 1;
        if (scale == x.scale && !overflow) {
            sum = total;
        } else {
            double const to = overflow ? 0x1p-600 : std::min(scale, x.scale);
            *this = {in_scale(to) + x.in_scale(to), to};
        }
        return *this;
    }

private:
    double in_scale(double to) const { return sum * to / scale * to / scale; }
};

template <class T, class D>
Tensor<T, D> rescaled(D const& exec, Tensor<T, D> const& x, double factor) {
    return zip_elements<sum_t<T>>(exec, multiply_by<double>{factor}, x);
}
template <class T, class D>
SelectedRows<T, D> rescaled(D const& exec, SelectedRows<T, D> const& g, double factor) {
    return scale(exec, g, factor);
}

template <class T, class D>
bool without_elements(Tensor<T, D> const& x) {
    return x.dimension() != 0 && x.size() == 0;
}
template <class T, class D>
bool without_elements(SelectedRows<T, D> const& g) {
    return without_elements(g.value());
}

/// The squared norm of x. If it does not fit the type in which it is summed, x is scaled by a power of 2 and summed
/// again. The square of a float fits a double.
template <template <class, class> class Gradient, class T, class D>
SquaredNorm squared_of(D const& exec, Gradient<T, D> const& x) {
    check_exec(exec);
    if (without_elements(x)) return {};
    using S = sum_t<T>;
    S const sum = squared_norm(exec, x);
    if constexpr (floating_element<T> && is_machine_float<S>) {
        constexpr bool is_float = std::is_same_v<S, float>;
        constexpr double up = is_float ? 0x1p100 : 0x1p600;
        if (sum == sum && !has_squares(sum)) {
            double const factor = sum < least_squares<S> ? up : 1 / up;
            auto const again = static_cast<double>(squared_norm(exec, rescaled(exec, x, factor)));
            if (is_float || again == 0) return {again / factor / factor, 1};
            return {again, factor};
        }
    }
    return {static_cast<double>(sum), 1};
}

}  // namespace rowan::inline v0::detail
