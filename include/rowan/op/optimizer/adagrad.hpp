// rowan/op/optimizer/adagrad.hpp: adagrad_op, AdaGrad as an operator.
#pragma once

#include <rowan/op/detail/optimizer_op.hpp>
#include <rowan/sparse/adagrad.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See adagrad; the gradient may be dense or row-sparse.
struct adagrad_op : detail::optimizer_op<AdaGradOptions, slot::moment> {
    using itself = adagrad_op;
    static constexpr std::string_view name = "adagrad";
    static constexpr std::string_view brief =
        "AdaGrad: changes param and moment in place, by a dense or row-sparse gradient.";

    template <class P, class S, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, G const& grad,
                    AdaGradOptions const& options = {}) {
        adagrad(exec, param, moment, grad, options);
    }
};

}  // namespace rowan::inline v0
