// rowan/sparse/lamb.hpp: lamb, Adam with steps in proportion to the norm of the parameter.
#pragma once

#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/detail/scaled_norm.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// The next moments, and the direction of the step.
struct lamb_direction {
    LambOptions options;
    double correction1, correction2;

    ROWAN_FORMULA V operator()(V const& g, V const& p, V& m, V& v) const {
        auto const [mean, root] = adam_means(options, correction1, correction2, g, m, v);
        return with_decay(V(quotient(mean, root)), options.weight_decay, p);
    }
};

/// The factors of a direction: their product is factor² · last, and factor is 1 where that is a normal number.
struct LambRate {
    double factor, last;
};

struct lamb_formula {
    lamb_direction direction;
    LambRate rate;

    ROWAN_FORMULA void operator()(V const& g, V& p, V& m, V& v) const {
        V const factor = constant<V>(rate.factor), step = product(factor, direction(g, p, m, v));
        p = p - product(constant<V>(rate.last), product(factor, step));
    }
};

/// Writes the directions alone, for their norm.
template <class G, class P, class M, class V, class R>
struct write_directions {
    lamb_direction direction;
    G const* g;
    P const* p;
    M const* m;
    V const* v;
    R* r;

    ROWAN_HD std::size_t of_row(std::size_t row) const { return row; }
    ROWAN_NO_EXEC_CHECK
    template <class X>
    ROWAN_HD_INLINE void at(std::size_t, std::size_t i) const {
        X moment1 = load<X>(m + i), moment2 = load<X>(v + i);
        store(direction(load<X>(g + i), load<X>(p + i), moment1, moment2), r + i);
    }
};

/// The rate for a direction of this norm, in formulas of `S`.
template <class S>
LambRate lamb_rate(double learning_rate, SquaredNorm const& param, SquaredNorm const& direction) {
    double const of_param = std::sqrt(param.sum), of_direction = std::sqrt(direction.sum);
    if (of_param == 0 || of_direction == 0) return {1, learning_rate};
    double const ratio = of_param / of_direction;
    if (!(of_param + of_direction <= std::numeric_limits<double>::max())) return {1, learning_rate * ratio};
    int of_rate = 0, of_ratio = 0;  // the ratio is a normal number
    double const rate = std::frexp(learning_rate, &of_rate) * std::frexp(ratio, &of_ratio);
    int const exponent = of_rate + of_ratio + std::ilogb(direction.scale) - std::ilogb(param.scale);
    double const whole = std::ldexp(rate, exponent);
    if constexpr (is_machine_float<S>) {
        using limits = std::numeric_limits<S>;
        double const size = std::abs(whole);
        if (rate != 0 && !(size >= static_cast<double>(limits::min()) && size <= static_cast<double>(limits::max())))
            return {std::ldexp(1.0, exponent / 3), std::ldexp(rate, exponent - 2 * (exponent / 3))};
    }
    return {1, whole};
}

/// Of arguments that have been checked. Nothing is changed before the norms are known.
template <class D, class P, class M, class V, class G>
void lamb_along(D const& exec, Tensor<P, D>& param, Tensor<M, D>& moment, Tensor<V, D>& moment2,
                Tensor<G, D> const& grad, lamb_direction const& direction) {
    using S = compute_t<G, P, M, V>;
    using R = std::conditional_t<element<S>, S, P>;
    using Loops = ElementLoops<D>;
    Loops::check(exec, param, moment, moment2, grad);
    if (param.size() == 0) return;
    SquaredNorm const of_param = squared_of(exec, param);
    auto r = new_tensor<R>(exec, param.shape());
    Loops::template each_in_rows<S>(
        exec, 1, r.size(),
        write_directions<G, P, M, V, R>{direction, grad.data(), std::as_const(param).data(),
                                        std::as_const(moment).data(), std::as_const(moment2).data(), r.data()});
    LambRate const rate = lamb_rate<S>(direction.options.learning_rate, of_param, squared_of(exec, r));
    update_rows(exec, grad, LaneRule<lamb_formula>{{direction, rate}}, param, moment, moment2);
}

/// to = from
struct copied {
    template <class V>
    ROWAN_HD_INLINE void operator()(V const& from, V& to) const {
        to = from;
    }
};

/// The gradient that `rows`, a SelectedRows or a plan and its value, represent, of the type in which they are summed.
template <class D, class P, class M, class V, class G, class... Rows>
void lamb_of_rows(D const& exec, std::int64_t height, Tensor<P, D>& param, Tensor<M, D>& moment, Tensor<V, D>& moment2,
                  Tensor<G, D> const& value, lamb_direction const& direction, Rows const&... rows) {
    check_exec(exec);
    check_sparse_targets(value, height, param, moment, moment2);
    if (only_checking()) return;
    ElementLoops<D>::check(exec, param, moment, moment2, value);
    if (param.size() == 0) return;
    auto dense = Tensor<kept_t<G>, D>::zeros(exec, param.shape());
    update_rows(exec, rows..., LaneRule<copied>{}, dense);
    lamb_along(exec, param, moment, moment2, dense, direction);
}

/// How lamb makes a step.
template <>
struct StepsOf<optim::lamb> {
    using O = optim::lamb;
    using options = LambOptions;

    template <class... P>
    static lamb_direction rule(options const& o) {
        check_moments<P...>(o);
        return {o, 1.0 - power(o.beta1, o.step), 1.0 - power(o.beta2, o.step)};
    }

    template <class D, class P, class M, class V, class G>
    static void step(D const& exec, Tensor<G, D> const& grad, options const& chosen, Tensor<P, D>& param,
                     Tensor<M, D>& moment, Tensor<V, D>& moment2) {
        check_types<G, P, M, V>();
        auto const direction = checked_rule<O>(O::states{}, chosen, param, moment, moment2);
        check_exec(exec);
        check_dense_targets(grad, param, moment, moment2);
        if (!only_checking()) lamb_along(exec, param, moment, moment2, grad, direction);
    }
    template <class D, class P, class M, class V, class G>
    static void step(D const& exec, SelectedRows<G, D> const& grad, options const& chosen, Tensor<P, D>& param,
                     Tensor<M, D>& moment, Tensor<V, D>& moment2) {
        check_types<G, P, M, V>();
        auto const direction = checked_rule<O>(O::states{}, chosen, param, moment, moment2);
        SelectedRows<G, D>::check_value(grad.value(), grad.rows().size());
        lamb_of_rows(exec, grad.height(), param, moment, moment2, grad.value(), direction, grad);
    }
    template <class D, class P, class M, class V, class G>
    static void step(D const& exec, RowPlan<D> const& plan, Tensor<G, D> const& value, options const& chosen,
                     Tensor<P, D>& param, Tensor<M, D>& moment, Tensor<V, D>& moment2) {
        check_types<G, P, M, V>();
        auto const direction = checked_rule<O>(O::states{}, chosen, param, moment, moment2);
        SelectedRows<G, D>::check_value(value, plan.value_rows());
        lamb_of_rows(exec, plan.height(), param, moment, moment2, value, direction, plan, value);
    }
};

}  // namespace detail

/// One step of LAMB (You et al. 2020, Large Batch Optimization for Deep Learning):
///     m = beta1 · m + (1 - beta1) · g;  v = beta2 · v + (1 - beta2) · g²
///     r = (m / (1 - beta1^step)) / (√(v / (1 - beta2^step)) + epsilon) + weight_decay · p
///     p -= learning_rate · |p| / |r| · r
/// where |p| and |r| are Euclidean norms over the whole tensors, and the ratio is 1 if one of them is 0. A NaN or an
/// infinity in p or r, and so in the gradient, makes the ratio NaN, 0 or infinite by IEEE arithmetic. Never lazy: a
/// row-sparse gradient stands for the dense one with zeros, as in Paddle's lamb and TensorFlow's: all rows move and all
/// moments decay. So param must have all rows: with some rows of a table, those of one rank of a ShardedTable or of a
/// SelectedRows, the norms would be those of these rows alone. Right where g² is, as adam; p and r may be any finite
/// numbers of float, double and 16-bit types. The squares are summed as by squared_norm, so the bits are the same for
/// any number of threads.
/// shapes   param, moment (m) and moment2 (v) [height, ...], grad a SelectedRows of that height and row shape, or a
///          Tensor of that shape
/// errors   ValueError if an option is not finite, epsilon is negative, a beta not in [0, 1) or step less than 1;
///          ShapeError if shapes do not match; Error as update_rows; std::bad_alloc; on a Thrust device those of
///          synchronize
/// cost     O(height * width): a dense step of adam, another read of all that it reads, and two norms; temporary memory
///          of the size of param in the type of computation, for a row-sparse gradient twice, and that of squared_norm;
///          a Thrust device synchronizes for each norm, and again for one whose square is 0 or does not fit; O(1) if
///          param has no elements
ROWAN_OPTIMIZER_FUNCTION(lamb, 2)

ROWAN_OPTIMIZER(StepsOf<optim::lamb>, float, Tensor<float>&, Tensor<float>&, Tensor<float>&)
ROWAN_OPTIMIZER(StepsOf<optim::lamb>, double, Tensor<double>&, Tensor<double>&, Tensor<double>&)

}  // namespace rowan::inline v0
