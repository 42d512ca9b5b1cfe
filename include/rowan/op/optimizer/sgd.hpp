// rowan/op/optimizer/sgd.hpp: sgd_op, gradient descent as an operator.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/detail/only_checking.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/row_plan.hpp>
#include <rowan/sparse/sgd.hpp>

#include <concepts>
#include <string_view>

namespace rowan::inline v0 {

/// See sgd; the gradient may be dense or row-sparse. Of parameters of bfloat16 and float16, duplicates are summed first,
/// as on a Thrust device and as other optimizers do: each by itself may be too small to change the parameter.
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
