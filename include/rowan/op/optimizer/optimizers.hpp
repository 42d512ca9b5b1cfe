// rowan/op/optimizer/optimizers.hpp: the optimizers as operators.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/detail/only_checking.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/adadelta.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/adamax.hpp>
#include <rowan/sparse/ftrl.hpp>
#include <rowan/sparse/lamb.hpp>
#include <rowan/sparse/momentum.hpp>
#include <rowan/sparse/optimizer.hpp>
#include <rowan/sparse/rmsprop.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/sgd.hpp>

#include <concepts>
#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// An operator with this Base that makes the steps of an optimizer, by a dense or row-sparse gradient.
template <class Base, class O>
struct optimizer_kernel : Base {
    using Options = typename O::options;

    template <class D, class P, gradient_on<D> G>
    requires(O::states::size == 0) static void run(D const& exec, Tensor<P, D>& param, G const& grad,
                                                   Options const& options = {}) {
        StepsOf<O>::step(exec, grad, options, param);
    }
    template <class D, class P, class S, gradient_on<D> G>
    requires(O::states::size == 1) static void run(D const& exec, Tensor<P, D>& param, Tensor<S, D>& state,
                                                   G const& grad, Options const& options = {}) {
        StepsOf<O>::step(exec, grad, options, param, state);
    }
    template <class D, class P, class S, class S2, gradient_on<D> G>
    requires(O::states::size == 2) static void run(D const& exec, Tensor<P, D>& param, Tensor<S, D>& state,
                                                   Tensor<S2, D>& state2, G const& grad, Options const& options = {}) {
        StepsOf<O>::step(exec, grad, options, param, state, state2);
    }
    template <class D, class P, class S, class S2, class S3, gradient_on<D> G>
    requires(O::states::size == 3) static void run(D const& exec, Tensor<P, D>& param, Tensor<S, D>& state,
                                                   Tensor<S2, D>& state2, Tensor<S3, D>& state3, G const& grad,
                                                   Options const& options = {}) {
        StepsOf<O>::step(exec, grad, options, param, state, state2, state3);
    }
};

}  // namespace detail

/// The operator of an optimizer of your own, for nets: see Optimizer. Its declaration has a `name`, too.
///     struct Signum {
///         double learning_rate = 0.01, momentum = 0.9;
///         using op = rowan::optimizer_operator<signum>;
///         ROWAN_OPTIONS(Signum, learning_rate, momentum)
///     };
///     train(cost, reader, {.optimizer = Signum{.learning_rate = 0.1}});
template <class O>
struct optimizer_operator
    : detail::optimizer_kernel<detail::optimizer_op_of<typename O::options, typename O::states>, O> {
    static constexpr std::string_view name = O::name;  ///< in nets
    static constexpr bool one_state_per_row = requires {
        requires O::one_state_per_row;
    };  ///< states of shape [height]
};

struct adadelta_op : detail::optimizer_kernel<detail::declared<adadelta_op>, optim::adadelta> {};
struct adagrad_op : detail::optimizer_kernel<detail::declared<adagrad_op>, optim::adagrad> {};
struct adam_op : detail::optimizer_kernel<detail::declared<adam_op>, optim::adam> {};
struct adamax_op : detail::optimizer_kernel<detail::declared<adamax_op>, optim::adamax> {};
struct ftrl_op : detail::optimizer_kernel<detail::declared<ftrl_op>, optim::ftrl> {};
struct lamb_op : detail::optimizer_kernel<detail::declared<lamb_op>, optim::lamb> {};
struct momentum_op : detail::optimizer_kernel<detail::declared<momentum_op>, optim::momentum> {};
struct rmsprop_op : detail::optimizer_kernel<detail::declared<rmsprop_op>, optim::rmsprop> {};
struct rowwise_adagrad_op : detail::optimizer_kernel<detail::declared<rowwise_adagrad_op>, optim::rowwise_adagrad> {};

/// See sgd. Of parameters of bfloat16 and float16, duplicates are summed first, as on a Thrust device and as other
/// optimizers do: each by itself may be too small to change the parameter.
struct sgd_op : detail::declared<sgd_op> {
    template <class P, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, G const& grad, SgdOptions const& options = {}) {
        constexpr bool narrow = std::same_as<P, bfloat16> || std::same_as<P, float16>;
        if constexpr (std::same_as<D, Cpu> && narrow && requires { grad.merged(); }) {
            if (!detail::only_checking() && !grad.merged()) {
                {
                    detail::OnlyChecking const checks(true);
                    sgd(exec, param, grad, options);
                }
                return sgd(exec, RowPlan<>(exec, grad), param, grad.value(), options);
            }
        }
        sgd(exec, param, grad, options);
    }
    template <class P, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, G const& grad, double learning_rate) {
        run(exec, param, grad, SgdOptions{.learning_rate = learning_rate});
    }
};

}  // namespace rowan::inline v0
