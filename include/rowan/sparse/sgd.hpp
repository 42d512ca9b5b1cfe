// rowan/sparse/sgd.hpp: sgd, gradient descent with dense or row-sparse gradients.
#pragma once

#include <rowan/sparse/detail/optimizer.hpp>
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

template <class P, class D>
DecayRule<sgd_decay_formula> make_sgd_rule(Tensor<P, D> const&, SgdOptions const& options) {
    check_setting<P>("learning_rate", options.learning_rate);
    return {{options, check_kept<P>(options)}};
}

}  // namespace detail

/// Subtracts `learning_rate * grad` from the rows of `param` that are in `grad`, duplicates in input order (Robbins and
/// Monro 1951). On a Thrust device duplicates are summed first, as with a plan.
/// shapes   param [height, ...], grad of that height and row shape
/// errors   ValueError if learning_rate is not finite; ShapeError if shapes do not match; Error if param shares memory
///          with a sparse gradient
/// cost     O(n * width), every contribution read once, every touched row read and written; on the host at most 2 MiB
///          of temporary memory to divide lookups among threads, and bit-identical to the serial loop for any number of
///          threads; on a Thrust device a RowPlan
template <class P, class G, device D>
void sgd(D const& exec, Tensor<P, D>& param, SelectedRows<G, D> const& grad, double learning_rate) {
    detail::check_types<G, P>();
    detail::check_setting<P>("learning_rate", learning_rate);
    SelectedRows<G, D>::check_value(grad.value(), grad.rows().size());
    detail::check_exec(exec);
    detail::check_sparse_targets(grad.value(), grad.height(), param);
    if (detail::only_checking()) return;
    detail::RowPairs<D>::apply(exec, detail::RowPairs<D>::prepare(exec, grad), grad.value(), param,
                               detail::sgd_formula{learning_rate});
}

/// Subtracts `learning_rate * grad` from `param`, for a dense gradient, or one whose rows are summed first.
/// shapes   param and grad of one shape, or those of update_rows
/// errors   ValueError if learning_rate is not finite; ShapeError if shapes do not match; Error if param partially
///          overlaps grad; grad may be param itself
/// cost     one read of grad, one read and one write of param
template <device D, class P, detail::gradient_on<D> G>
void sgd(D const& exec, Tensor<P, D>& param, G const& grad, double learning_rate) {
    detail::check_types<typename G::value_type, P>();
    update_rows(exec, grad, detail::make_sgd_rule(param, {.learning_rate = learning_rate}), param);
}

/// Subtracts `learning_rate * value` from the rows of a plan, which is made once for several gradients or parameters.
/// Duplicates are summed first, as in merge.
/// shapes   plan of n rows, value [n, ...], param [plan.height(), ...]
/// errors   ValueError if learning_rate is not finite; ShapeError if shapes do not match; Error if param shares memory
///          with value
/// cost     O(n * width): every contribution read once, every touched row read and written once
template <device D, class P, class G>
void sgd(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<G, D> const& value, double learning_rate) {
    detail::check_types<G, P>();
    update_rows(exec, plan, value, detail::make_sgd_rule(param, {.learning_rate = learning_rate}), param);
}

/// One step with a weight decay on the rows of `grad`, duplicates summed first, as in merge:
///     g += weight_decay · p;  p -= learning_rate · g
/// or, if the decay is decoupled, p = (1 - learning_rate · weight_decay) · p; p -= learning_rate · g. Other rows do not
/// decay: see Deferred. With a decay of 0 it is sgd(param, grad, options.learning_rate), with its order of duplicates.
///     sgd(param, grad, {.learning_rate = 0.1, .weight_decay = 1e-4});
/// shapes   param [height, ...], grad a SelectedRows of that height and row shape, or a Tensor of that shape
/// errors   ValueError if an option is not finite; ShapeError if shapes do not match; Error as update_rows
/// cost     as adagrad, without a state
template <device D, class P, detail::gradient_on<D> G>
void sgd(D const& exec, Tensor<P, D>& param, G const& grad, SgdOptions const& options) {
    detail::check_types<typename G::value_type, P>();
    auto const rule = detail::make_sgd_rule(param, options);
    if (options.weight_decay == 0.0) return sgd(exec, param, grad, options.learning_rate);
    update_rows(exec, grad, rule, param);
}

/// One step with a weight decay on the rows of a plan, which is made once for several gradients or parameters; `value`
/// has a row for each of its lookups.
/// shapes   plan of n rows, value [n, ...], param [plan.height(), ...]
/// errors   those of sgd for a SelectedRows; ShapeError if value does not have n rows
/// cost     that of sgd for a SelectedRows, without the sort
template <device D, class P, class G>
void sgd(D const& exec, RowPlan<D> const& plan, Tensor<P, D>& param, Tensor<G, D> const& value,
         SgdOptions const& options) {
    detail::check_types<G, P>();
    update_rows(exec, plan, value, detail::make_sgd_rule(param, options), param);
}

template <class P, class G, class Device>
requires detail::gradient_on<G, Device>
void sgd(Tensor<P, Device>& param, G const& grad, SgdOptions const& options) {
    sgd(param.device(), param, grad, options);
}

template <class P, class G, class Device>
void sgd(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<G, Device> const& value,
         SgdOptions const& options) {
    sgd(plan.device(), plan, param, value, options);
}

template <class P, class G, class Device>
requires detail::gradient_on<G, Device>
void sgd(Tensor<P, Device>& param, G const& grad, double learning_rate) {
    sgd(param.device(), param, grad, learning_rate);
}

template <class P, class G, class Device>
void sgd(RowPlan<Device> const& plan, Tensor<P, Device>& param, Tensor<G, Device> const& value, double learning_rate) {
    sgd(plan.device(), plan, param, value, learning_rate);
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

ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<float>&, SelectedRows<float> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<float>&, Tensor<float> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<float>&, SelectedRows<float> const&, SgdOptions const&))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<float>&, Tensor<float> const&, SgdOptions const&))
ROWAN_TEMPLATE(void sgd(Cpu const&, RowPlan<Cpu> const&, Tensor<float>&, Tensor<float> const&, SgdOptions const&))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<double>&, SelectedRows<double> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<double>&, Tensor<double> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double> const&, double))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<double>&, SelectedRows<double> const&, SgdOptions const&))
ROWAN_TEMPLATE(void sgd(Cpu const&, Tensor<double>&, Tensor<double> const&, SgdOptions const&))
ROWAN_TEMPLATE(void sgd(Cpu const&, RowPlan<Cpu> const&, Tensor<double>&, Tensor<double> const&, SgdOptions const&))

}  // namespace rowan::inline v0
