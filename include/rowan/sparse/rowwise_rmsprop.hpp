// rowan/sparse/rowwise_rmsprop.hpp: rowwise_rmsprop, RMSProp with one average per row and a decay by the age of rows.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

struct rowwise_rmsprop_rule {
    RowwiseRmsPropOptions options;
    double rate;  // of the decay

    template <class G, class P, class M, class I>
    void operator()(std::span<G const> g, std::span<P> p, std::span<M> m, std::span<I> last) const {
        using S = std::common_type_t<G, sum_t<P>, sum_t<M>>;
        on_lanes<S>(g.size(), [&]<class V>(as<V>) ROWAN_INLINED { with<V>(g, p, m, last); });
    }
    template <class V, class G, class P, class M, class I>
    ROWAN_INLINE void with(std::span<G const> g, std::span<P> p, std::span<M> m, std::span<I> last) const {
        using S = std::common_type_t<G, sum_t<P>, sum_t<M>>;
        using Lanes = typename lanes_like<V, S>::type;
        if (g.empty()) return;
        rowwise_rmsprop_rule const own = *this;  // the writes below change no copy
        double const shrink = own.kept(last[0]);
        last[0] = static_cast<I>(own.options.step);
        S const mean = mean_of_sum(S(sum_with<Lanes>(g.size(), g.data(), squared{})), static_cast<double>(g.size()),
                                   [&] { return interleaved_sum<S>(g.size(), g.data(), small_square{}); });
        S const moment = running_mean(own.options.rho, load<S>(m.data()), mean);
        store(moment, m.data());
        S const root = square_root(moment) + constant<S>(own.options.epsilon);
        for_with<Lanes>(
            [&]<class L>(L const& x, L& to) ROWAN_INLINED {
                to = product(constant<L>(shrink), to) -
                     quotient(product(constant<L>(own.options.learning_rate), x), L(root));
            },
            g.size(), g.data(), p.data());
    }

private:
    /// What the step keeps of a row whose last step is this one, or 0.
    double kept(std::int64_t last) const {
        double const age = last == 0 ? 1.0 : static_cast<double>(options.step - last);
        return std::max(options.min_shrink, 1.0 - std::clamp(product(rate, age), 0.0, 1.0));
    }
};

template <>
inline constexpr bool is_lane_rule<rowwise_rmsprop_rule> = true;

/// Checks the last steps of the rows row_of(0), row_of(1) … row_of(n - 1).
/// errors   ValueError if one is negative or after `step`
template <id_type I, class RowOf>
void check_last_steps(Cpu exec, Tensor<I> const& last_step, std::int64_t step, std::size_t n, RowOf const& row_of) {
    auto const wrong = [&](std::size_t k) {
        std::int64_t const last = last_step.data()[row_of(k)];
        return last < 0 || last > step;
    };
    std::atomic<bool> any{false};
    parallel_work(exec, n, n, 4096, [&](std::size_t begin, std::size_t end) {
        bool some = false;
        for (std::size_t k = begin; k < end; ++k) some = some || wrong(k);
        if (some) any.store(true, std::memory_order_relaxed);
    });
    for (std::size_t k = 0; any && k < n; ++k) {
        if (wrong(k))
            throw ValueError({"last_step[", row_of(k), "]"}, last_step.data()[row_of(k)],
                             {"0 to ", step, ", this step"});
    }
}

/// How rowwise_rmsprop makes a step: after a check of the last steps of the rows.
template <>
struct StepsOf<optim::rowwise_rmsprop> {
    using O = optim::rowwise_rmsprop;
    using options = RowwiseRmsPropOptions;

    template <class P, class M, id_type I>
    static rowwise_rmsprop_rule rule(options const& o) {
        check_setting<P, M>("learning_rate", o.learning_rate);
        check_decay("rho", o.rho);
        check_epsilon<P, M>(o.epsilon);
        check_setting<P, M>("decay", o.decay);
        if (o.decay < 0) throw ValueError("decay", o.decay, "0 or more");
        double const rate = product(o.learning_rate, o.decay);
        check_setting<P, M>("learning_rate · decay", rate);
        if (!(o.min_shrink >= 0.0 && o.min_shrink <= 1.0))
            throw ValueError("min_shrink", o.min_shrink, "a number in [0, 1]");
        if (o.step < 1) throw ValueError("step", o.step, "1 or more");
        if (!std::in_range<I>(o.step)) throw ValueError("step", o.step, "a number that last_step can hold");
        return {o, rate};
    }
    template <class G, class P, class M, class I>
    static void step(Cpu exec, G const& grad, options const& chosen, Tensor<P>& param, Tensor<M>& mean_square,
                     Tensor<I>& last_step) {
        check_types<typename G::value_type, P, M>();
        auto const rule = checked_rule<O>(O::states{}, chosen, param, mean_square, last_step);
        if constexpr (requires { grad.rows(); }) {
            check_sparse_targets(grad.value(), grad.height(), param, mean_square, last_step);
            check_last_steps(exec, last_step, chosen.step, grad.rows().size(),
                             [&](std::size_t k) { return static_cast<std::size_t>(grad.rows()[k]); });
        } else {
            check_dense_targets(grad, param, mean_square, last_step);
            check_last_steps(exec, last_step, chosen.step, last_step.size(), [](std::size_t k) { return k; });
        }
        update_rows(exec, grad, rule, param, mean_square, last_step);
    }
    template <class G, class P, class M, class I>
    static void step(Cpu exec, RowPlan<> const& plan, Tensor<G> const& value, options const& chosen, Tensor<P>& param,
                     Tensor<M>& mean_square, Tensor<I>& last_step) {
        check_types<G, P, M>();
        auto const rule = checked_rule<O>(O::states{}, chosen, param, mean_square, last_step);
        check_sparse_targets(value, plan.height(), param, mean_square, last_step);
        check_last_steps(exec, last_step, chosen.step, plan.rows().size(),
                         [&](std::size_t k) { return static_cast<std::size_t>(plan.rows()[k]); });
        update_rows(exec, plan, value, rule, param, mean_square, last_step);
    }
};

}  // namespace detail

/// One step of row-wise RMSProp with a decay by the age of rows (Li and Lyu: Adaptive Regularization for Large-Scale
/// Sparse Feature Embedding Models, 2026; FBGEMM's ROWWISE_RMSPROP_AR) on the rows of `grad` (duplicates summed first):
///     age = step - last_step, or 1 in the first step of a row, whose last_step is 0;  last_step = step
///     m = rho · m + (1 - rho) · mean of g² over the row
///     p = max(min_shrink, 1 - min(1, learning_rate · decay · age)) · p - learning_rate · g / (√m + epsilon)
/// A row that is not in `grad` is unchanged; its next step makes up for the decay that it has missed, but at least
/// min_shrink of the row is kept: with 0, old rows begin anew. A second gradient in one step does not decay, nor does any
/// at a negative learning rate. Without a decay this is row-wise RMSProp. Squares are summed as by rowwise_adagrad;
/// where their mean is infinite, m remains so, and the row moves no more.
///     rowwise_rmsprop(table, mean_square, last_step, grad, {.learning_rate = rate, .decay = 1e-3, .step = t});
/// shapes   param [height, ...], mean_square and last_step [height], grad a SelectedRows of that height and row shape, or
///          a Tensor of param's shape
/// errors   ValueError if an option is not finite, epsilon or decay is negative, rho not in [0, 1), min_shrink not in
///          [0, 1], step less than 1 or no number of last_step's type, or the last_step of a row of grad is not in
///          [0, step]; ShapeError if shapes do not match; Error as update_rows
/// cost     that of rowwise_adagrad, and two reads and a write of the last steps of the rows
ROWAN_OPTIMIZER_FUNCTION(rowwise_rmsprop, 2)

ROWAN_TEMPLATE(void detail::StepsOf<optim::rowwise_rmsprop>::step(Cpu, SelectedRows<float> const&,
                                                                      RowwiseRmsPropOptions const&, Tensor<float>&,
                                                                      Tensor<float>&, Tensor<std::int64_t>&))
ROWAN_TEMPLATE(void detail::StepsOf<optim::rowwise_rmsprop>::step(Cpu, RowPlan<> const&, Tensor<float> const&,
                                                                      RowwiseRmsPropOptions const&, Tensor<float>&,
                                                                      Tensor<float>&, Tensor<std::int64_t>&))

}  // namespace rowan::inline v0
