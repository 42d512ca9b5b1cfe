// rowan/sparse/ftrl.hpp: ftrl, FTRL-proximal, whose L1 penalty makes small weights exactly 0.
#pragma once

#include <rowan/detail/functions.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>

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

template <>
struct StepsOf<optim::ftrl> : StepsByRule<optim::ftrl> {
    template <class... P>
    static LaneRule<ftrl_formula> rule(FtrlOptions const& options) {
        check_setting<P...>("learning_rate", options.learning_rate);
        if (options.learning_rate == 0.0) throw ValueError("learning_rate", 0.0, "a number other than 0");
        check_setting<P...>("l1", options.l1);
        check_setting<P...>("l2", options.l2);
        if (!(options.lr_power >= -1.0 && options.lr_power <= 0.0))
            throw ValueError("lr_power", options.lr_power, "a number in [-1, 0]");
        return {{options}};
    }
};

}  // namespace detail

/// One step of FTRL-proximal (McMahan et al. 2013) on the rows of `grad` (duplicates summed first),
/// with q = -lr_power:
///     n = s + g²;  l += g - (n^q - s^q) / learning_rate · p;  s = n
///     p = (l1 · sign(l) - l) / (n^q / learning_rate + 2 · l2) where |l| > l1, else 0 (NaN if l is NaN; 1e-10 is added to l1, l2)
/// Right where n is a number of the type of computation, the widest dtype<T>::sum of the tensors: if g² overflows, for
/// float from |g| = 1.9e19 on, p is NaN. With a moment (s) of doubles, the bound is 1e154.
/// shapes   param, moment (s) and linear (l) [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of
///          that shape
/// errors   ValueError if an option is not finite, learning_rate 0 or lr_power not in [-1, 0]; ShapeError if shapes do
///          not match; Error as update_rows
/// cost     as adagrad, with two states
ROWAN_OPTIMIZER_FUNCTION(ftrl, 2)

ROWAN_OPTIMIZER(StepsByRule<optim::ftrl>, float, Tensor<float>&, Tensor<float>&, Tensor<float>&)
ROWAN_OPTIMIZER(StepsByRule<optim::ftrl>, double, Tensor<double>&, Tensor<double>&, Tensor<double>&)

}  // namespace rowan::inline v0
