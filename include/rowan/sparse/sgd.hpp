// rowan/sparse/sgd.hpp: sgd, gradient descent with dense or row-sparse gradients.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/optimizer_options.hpp>
#include <rowan/sparse/scatter_add.hpp>
#include <rowan/sparse/update_rows.hpp>

namespace rowan::inline v0 {

namespace detail {

struct sgd_formula {
    double learning_rate;

    ROWAN_FORMULA void operator()(V const& g, V& p) const { p = p - product(constant<V>(learning_rate), g); }
};

struct sgd_decay_formula {
    SgdOptions options;
    double kept;  // of a parameter by decoupled decay

    sgd_formula plain() const { return {options.learning_rate}; }

    ROWAN_FORMULA void operator()(V const& grad, V& p) const {
        V const g = with_decay(options, kept, grad, p);
        p = p - product(constant<V>(options.learning_rate), g);
    }
};

/// How sgd makes a step: with a rule, but on the host the rows of a sparse gradient in their order, if there is no decay.
template <>
struct StepsOf<optim::sgd> : StepsByRule<optim::sgd> {
    template <class... P>
    static DecayRule<sgd_decay_formula> rule(SgdOptions const& options) {
        check_setting<P...>("learning_rate", options.learning_rate);
        return {{options, check_kept<P...>(options)}};
    }
    using StepsByRule::step;
    template <class D, class G, class P>
    static void step(D const& exec, SelectedRows<G, D> const& grad, SgdOptions const& options, Tensor<P, D>& param) {
        if (options.weight_decay != 0.0) return StepsByRule::step(exec, grad, options, param);
        static_cast<void>(rule<P>(options));
        step(exec, grad, options.learning_rate, param);
    }
    /// Without a decay: of a sparse gradient, only this is compiled by programs that give a rate alone.
    template <class D, class G, class P>
    static void step(D const& exec, SelectedRows<G, D> const& grad, double learning_rate, Tensor<P, D>& param) {
        check_types<G, P>();
        check_setting<P>("learning_rate", learning_rate);
        SelectedRows<G, D>::check_value(grad.value(), grad.rows().size());
        check_exec(exec);
        check_sparse_targets(grad.value(), grad.height(), param);
        if (only_checking()) return;
        RowPairs<D>::apply(exec, RowPairs<D>::prepare(exec, grad), grad.value(), param, sgd_formula{learning_rate});
    }
    template <class D, class G, class P>
    static void step(D const& exec, G const& grad, double learning_rate, Tensor<P, D>& param) {
        step(exec, grad, SgdOptions{.learning_rate = learning_rate}, param);
    }
};

}  // namespace detail

/// One step of gradient descent (Robbins and Monro 1951) on the rows of `grad`; others do not change, nor decay: see
/// Deferred.
///     g += weight_decay · p;  p -= learning_rate · g
/// or, if the decay is decoupled, p = (1 - learning_rate · weight_decay) · p; p -= learning_rate · g.
///     sgd(param, grad, 0.1);
///     sgd(param, grad, {.learning_rate = 0.1, .weight_decay = 1e-4});
/// Without a decay, duplicates are subtracted in input order: the bits of the serial loop, for any number of threads.
/// With a decay, a plan or a StochasticRounding, and on a Thrust device, they are summed first, as in merge.
/// shapes   param [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of that shape, which may be
///          param itself
/// errors   ValueError if an option is not finite; ShapeError if shapes do not match; Error as update_rows
/// cost     O(n * width), every contribution read once, every touched row read and written; on the host in input order
///          at most 2 MiB of temporary memory to divide lookups among threads, otherwise a RowPlan
ROWAN_OPTIMIZER_FUNCTION(sgd, 0)

template <device D, class P, detail::gradient_on<D> G>
void sgd(D const& exec, Tensor<P, D>& param, G const& grad, double learning_rate) {
    detail::StepsOf<optim::sgd>::step(exec, grad, learning_rate, param);
}
template <class P, class G, class Device>
requires detail::gradient_on<G, Device>
void sgd(Tensor<P, Device>& param, G const& grad, double learning_rate) {
    sgd(param.device(), param, grad, learning_rate);
}
template <device D, class P, class G>
void sgd(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<G, D> const& value, double learning_rate) {
    sgd(exec, plan, param, value, SgdOptions{.learning_rate = learning_rate});
}
template <class P, class G, class Device>
void sgd(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<G, Device> const& value, double learning_rate) {
    sgd(plan.device(), plan, param, value, SgdOptions{.learning_rate = learning_rate});
}
template <named_rows X, class G>
void sgd(Cpu exec, X&& x, G const& grad, double learning_rate) {
    sgd(exec, x, grad, SgdOptions{.learning_rate = learning_rate});
}
template <named_rows X, class G>
void sgd(X&& x, G const& grad, double learning_rate) {
    sgd(Cpu{}, x, grad, SgdOptions{.learning_rate = learning_rate});
}

// Mistakes, which do not compile.
template <class P, class G, class Device>
void sgd(SelectedRows<G, Device> const&, Tensor<P, Device> const&, double) {
    static_assert(!element<P>, "rowan::sgd: the parameter comes before its gradient: sgd(param, grad, learning_rate)");
}
template <class P, class Device, detail::plain_range R>
void sgd(Tensor<P, Device>&, R const&, double) {
    static_assert(!detail::plain_range<R>, "rowan::sgd: a gradient is a SelectedRows or a Tensor");
}
template <class P, class G, class Device>
requires detail::gradient_on<G, Device>
void sgd(Tensor<P, Device> const& param, G const&, double) { detail::check_written(param); }

ROWAN_OPTIMIZER(StepsByRule<optim::sgd>, float, Tensor<float>&)
ROWAN_OPTIMIZER(StepsByRule<optim::sgd>, double, Tensor<double>&)
ROWAN_TEMPLATE(void detail::StepsOf<optim::sgd>::step(Cpu const&, SelectedRows<float> const&, SgdOptions const&,
                                                      Tensor<float>&))
ROWAN_TEMPLATE(void detail::StepsOf<optim::sgd>::step(Cpu const&, SelectedRows<double> const&, SgdOptions const&,
                                                      Tensor<double>&))

}  // namespace rowan::inline v0
