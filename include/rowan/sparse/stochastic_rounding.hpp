// rowan/sparse/stochastic_rounding.hpp: StochasticRounding, for optimizers of tables of 16-bit floats.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/detail/random_rounding.hpp>
#include <rowan/sparse/detail/rounded_rule.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/sgd.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0 {

/// Rounds what an optimizer writes into a table of bfloat16 or float16 up or down at random, so that the expected value
/// is the one that was computed: updates that are less than half a unit of the last place are not lost. Give it to an
/// optimizer, with another step each time:
///
///     StochasticRounding const rounding{.seed = 1, .step = step};
///     rowwise_adagrad(table, moment, gradient, rounding, {.learning_rate = 0.01});
///     sgd(table, gradient, 0.01, rounding);
///     update_rows(gradient, rounding, rule, table, state);     any rule: its spans of rows of the table are of floats
///
/// The new values are computed in float, or rounded to nearest float, as without StochasticRounding; states are rounded
/// as always. A value between two numbers of the table's type becomes the one away from zero with the probability
/// |value - the other| / |their difference|, exactly for bfloat16 and for float16 from 2^-24 on, and to 2^-32 below.
/// Values that are numbers of the type, infinities and NaNs are stored as they are. A number above the largest finite
/// one becomes that one.
///
/// The random number of element e = row · width + column is, of the splitmix64 sequence with the seed
/// mix(mix(seed) + (step + 1) · 0x9E3779B97F4A7C15), where mix is the finaliser of splitmix64: for bfloat16 the 16 bits
/// from bit 16 · (e mod 4) on of its number e / 4, counted from 0; for float16 the 32 bits from bit 32 · (e mod 2) on
/// of number e / 2. So the bits are the same on all machines, for any number of threads and in any order of rows.
struct StochasticRounding {
    std::uint64_t seed = 0;  ///< of the random numbers
    std::int64_t step = 0;   ///< the number of the step: two steps with one number round in the same way

    /// What is stored for x in the element with this number, row · width + column, of a table of P.
    /// errors   none
    /// cost     one random number
    template <class P>
    P narrow(float x, std::uint64_t e) const noexcept {
        constexpr unsigned bits = detail::RandomRounding<P>::bits, per = 64 / bits;
        return detail::RandomRounding<P>::round(x, part<bits>(detail::bits_at(key(), e / per + 1), e % per));
    }

    /// Stores x[i] in to[i], which is element `first` + i.
    /// errors   none
    /// cost     one random number for 2 or 4 elements
    template <class P>
    [[gnu::noinline]] void narrow(std::span<float const> x, std::uint64_t first, P* to) const noexcept {
        constexpr unsigned bits = detail::RandomRounding<P>::bits, per = 64 / bits;
        std::uint64_t const seeded = key();
        for (std::size_t i = 0; i < x.size();) {
            std::uint64_t const e = first + i, word = detail::bits_at(seeded, e / per + 1);
            if (e % per == 0 && i + per <= x.size()) {
                for (unsigned k = 0; k < per; ++k)
                    to[i + k] = detail::RandomRounding<P>::round(x[i + k], part<bits>(word, k));
                i += per;
            } else {
                to[i] = detail::RandomRounding<P>::round(x[i], part<bits>(word, e % per));
                ++i;
            }
        }
    }

private:
    std::uint64_t key() const noexcept {
        return detail::bits_at(detail::mix_bits(seed), static_cast<std::uint64_t>(step) + 1);
    }
    template <unsigned bits>
    static std::uint32_t part(std::uint64_t word, std::uint64_t k) noexcept {
        return static_cast<std::uint32_t>(word >> bits * k & (~std::uint64_t{0} >> (64 - bits)));
    }
};

namespace detail {

/// Calls f with the rule for rows of P.
template <class P, class Rule, class F>
void with_rounding(Cpu exec, StochasticRounding rounding, Rule const& rule, Tensor<P> const& param, F const& f) {
    static_assert(RandomRounding<P>::bits != 0);
    FloatRows const rows(exec, is_elementwise<Rule> || param.dimension() == 0 ? 0 : param.row_size());
    f(RoundedRule<Rule, StochasticRounding, P>{rule, rounding, param.data(), &rows});
}

}  // namespace detail

/// update_rows with a rule that gets a span of floats for a row of param, whose new values are rounded at random.
/// shapes   as update_rows
/// errors   those of update_rows; ValueError if exec.threads is negative; std::bad_alloc
/// cost     that of update_rows, and one random number for 4 elements of bfloat16 or 2 of float16
template <class G, class Rule, class P, std::same_as<StochasticRounding> R, class... S>
requires detail::gradient_on<G, Cpu>
void update_rows(Cpu exec, G const& grad, R rounding, Rule const& rule, Tensor<P>& param, Tensor<S>&... state) {
    detail::with_rounding(exec, rounding, rule, param,
                          [&](auto const& rounded) { update_rows(exec, grad, rounded, param, state...); });
}
/// update_rows with a plan, and a rule that gets a span of floats for a row of param, whose new values are rounded at
/// random.
/// shapes   as update_rows with a plan
/// errors   those of update_rows; ValueError if exec.threads is negative; std::bad_alloc
/// cost     that of update_rows, and one random number for 4 elements of bfloat16 or 2 of float16
template <class G, class Rule, class P, std::same_as<StochasticRounding> R, class... S>
void update_rows(Cpu exec, RowPlan<> const& plan, Tensor<G> const& value, R rounding, Rule const& rule,
                 Tensor<P>& param, Tensor<S>&... state) {
    detail::with_rounding(exec, rounding, rule, param,
                          [&](auto const& rounded) { update_rows(exec, plan, value, rounded, param, state...); });
}

template <class G, class Rule, class P, std::same_as<StochasticRounding> R, class... S>
requires detail::gradient_on<G, Cpu>
void update_rows(G const& grad, R rounding, Rule const& rule, Tensor<P>& param, Tensor<S>&... state) {
    update_rows(Cpu{}, grad, rounding, rule, param, state...);
}
// The optimizers with new values of param that are rounded at random, as Optimizer says.
#define ROWAN_ROUNDED(name, types, tensors, arguments)                                                  \
    template <types, class G, std::same_as<StochasticRounding> R>                                       \
    requires detail::gradient_on<G, Cpu>                                                                \
    void name(Cpu exec, tensors, G const& grad, R rounding, optim::name::options const& options = {}) { \
        detail::StepsOf<optim::name>::step(exec, grad, rounding, options, arguments);                   \
    }                                                                                                   \
    template <types, class G, std::same_as<StochasticRounding> R>                                       \
    requires detail::gradient_on<G, Cpu>                                                                \
    void name(tensors, G const& grad, R rounding, optim::name::options const& options = {}) {           \
        detail::StepsOf<optim::name>::step(Cpu{}, grad, rounding, options, arguments);                  \
    }
ROWAN_ROUNDED(sgd, class P, Tensor<P>& param, param)
ROWAN_ROUNDED(adagrad, ROWAN_LIST(class P, class S), ROWAN_LIST(Tensor<P>& param, Tensor<S>& state),
              ROWAN_LIST(param, state))
ROWAN_ROUNDED(rowwise_adagrad, ROWAN_LIST(class P, class S), ROWAN_LIST(Tensor<P>& param, Tensor<S>& state),
              ROWAN_LIST(param, state))
ROWAN_ROUNDED(adam, ROWAN_LIST(class P, class S, class S2),
              ROWAN_LIST(Tensor<P>& param, Tensor<S>& state, Tensor<S2>& state2), ROWAN_LIST(param, state, state2))
#undef ROWAN_ROUNDED

/// sgd with new values that are rounded at random; duplicates are summed first, as with a plan.
/// shapes   as sgd
/// errors   those of sgd
/// cost     that of update_rows with a StochasticRounding
template <class P, class G, std::same_as<StochasticRounding> R>
requires detail::gradient_on<G, Cpu>
void sgd(Cpu exec, Tensor<P>& param, G const& grad, double learning_rate, R rounding) {
    sgd(exec, param, grad, rounding, {.learning_rate = learning_rate});
}
template <class P, class G, std::same_as<StochasticRounding> R>
requires detail::gradient_on<G, Cpu>
void sgd(Tensor<P>& param, G const& grad, double learning_rate, R rounding) {
    sgd(Cpu{}, param, grad, learning_rate, rounding);
}

}  // namespace rowan::inline v0
