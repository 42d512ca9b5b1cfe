// rowan/sparse/ftrl.hpp: ftrl, FTRL-proximal, whose L1 penalty makes small weights exactly 0.
#pragma once

#include <rowan/detail/functions.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <cmath>

namespace rowan::inline v0 {

namespace detail {

struct ftrl_formula {
    FtrlOptions options;

    /// x to the power -lr_power: the square root for -0.5, else std::pow per element, or the pow of the device's
    /// library.
    ROWAN_FORMULA V grown(V const& x) const {
        if (options.lr_power == -0.5) return square_root(x);
        if constexpr (is_register<V>) {
            alignas(64) typename V::value_type lane[V::size];
            x.store(lane);
            for (auto& value : lane) value = std::pow(value, static_cast<typename V::value_type>(-options.lr_power));
            return V::load(lane);
        } else {
            return pow_of(x, constant<V>(-options.lr_power));
        }
    }

    ROWAN_FORMULA void operator()(V const& g, V& p, V& s, V& l) const {
        V const zero = constant<V>(0.0);
        V const l1 = constant<V>(options.l1 + 1e-10);
        V const rate = constant<V>(options.learning_rate);
        V const sum = s + product(g, g);
        V const power = grown(sum);
        l = l + g - product(quotient(V(power - grown(s)), rate), p);
        V const y = quotient(power, rate) + constant<V>(2.0 * (options.l2 + 1e-10));
        V const x = choose(l > zero, l1 - l, zero - l1 - l);
        V const size = larger(l, V(zero - l));
        p = choose(size > l1, quotient(x, y), size - size);  // 0, or NaN if l is NaN
        s = sum;
    }
};

template <class D, class P, class S, class L>
LaneRule<ftrl_formula> make_ftrl_rule(Tensor<P, D> const& param, Tensor<S, D> const& squared,
                                      Tensor<L, D> const& linear, FtrlOptions options) {
    check_setting<P, S, L>("learning_rate", options.learning_rate);
    if (options.learning_rate == 0.0) throw ValueError("learning_rate", 0.0, "a number other than 0");
    check_setting<P, S, L>("l1", options.l1);
    check_setting<P, S, L>("l2", options.l2);
    if (!(options.lr_power >= -1.0 && options.lr_power <= 0.0))
        throw ValueError("lr_power", options.lr_power, "a number in [-1, 0]");
    check_state("squared", param, squared);
    check_state("linear", param, linear);
    return {{options}};
}

}  // namespace detail

/// One step of FTRL-proximal (McMahan et al. 2013) on the rows of `grad` (duplicates summed first),
/// with q = -lr_power:
///     n = s + g²;  l += g - (n^q - s^q) / learning_rate · p;  s = n
///     p = (l1 · sign(l) - l) / (n^q / learning_rate + 2 · l2) where |l| > l1, else 0 (NaN if l is NaN; 1e-10 is added to l1, l2)
/// Right where n is a number of the type of computation, the widest dtype<T>::sum of the tensors: if g² overflows, for
/// float from |g| = 1.9e19 on, p is NaN. With `squared` of doubles, the bound is 1e154.
/// shapes   param, squared and linear [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of
///          that shape
/// errors   ValueError if an option is not finite, learning_rate 0 or lr_power not in [-1, 0]; ShapeError if shapes do
///          not match; Error as update_rows
/// cost     as adagrad, with two states
template <device D, class P, class S, class L, detail::gradient_on<D> G>
void ftrl(D const& exec, Tensor<P, D>& param, Tensor<S, D>& squared, Tensor<L, D>& linear, G const& grad,
          FtrlOptions options = {}) {
    detail::check_types<typename G::value_type, P, S, L>();
    update_rows(exec, grad, detail::make_ftrl_rule(param, squared, linear, options), param, squared, linear);
}

/// One step of FTRL-proximal on the rows of a plan, which is made once for several gradients or parameters; `value` has
/// a row for each of its lookups.
/// shapes   plan of n rows, value [n, ...], param, squared and linear [plan.height(), ...]
/// errors   those of ftrl for a SelectedRows; ShapeError if value does not have n rows
/// cost     that of ftrl for a SelectedRows, without the sort
template <device D, class P, class S, class L, class G>
void ftrl(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<S, D>& squared, Tensor<L, D>& linear,
          Tensor<G, D> const& value, FtrlOptions options = {}) {
    detail::check_types<G, P, S, L>();
    update_rows(exec, plan, value, detail::make_ftrl_rule(param, squared, linear, options), param, squared, linear);
}

template <class P, class S, class L, class G, class Device>
requires detail::gradient_on<G, Device>
void ftrl(Tensor<P, Device>& param, Tensor<S, Device>& squared, Tensor<L, Device>& linear, G const& grad,
          FtrlOptions options = {}) {
    ftrl(param.device(), param, squared, linear, grad, options);
}

template <class P, class S, class L, class G, class Device>
void ftrl(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<S, Device>& squared, Tensor<L, Device>& linear,
          Tensor<G, Device> const& value, FtrlOptions options = {}) {
    ftrl(plan.device(), plan, param, squared, linear, value, options);
}

ROWAN_TEMPLATE(void ftrl(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, SelectedRows<float> const&,
                         FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, Tensor<float>&, Tensor<float>&, Tensor<float>&, Tensor<float> const&, FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float>&, Tensor<float>&,
                         Tensor<float> const&, FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, SelectedRows<double> const&,
                         FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, Tensor<double>&, Tensor<double>&, Tensor<double>&, Tensor<double> const&,
                         FtrlOptions))
ROWAN_TEMPLATE(void ftrl(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double>&, Tensor<double>&,
                         Tensor<double> const&, FtrlOptions))

}  // namespace rowan::inline v0
