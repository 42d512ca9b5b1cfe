// rowan/op/optimizer/momentum.hpp: momentum_op, gradient descent with momentum as an operator.
#pragma once

#include <rowan/op/detail/optimizer_op.hpp>
#include <rowan/sparse/momentum.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See momentum; the gradient may be dense or row-sparse.
struct momentum_op : detail::optimizer_op<MomentumOptions, slot::velocity> {
    using itself = momentum_op;
    static constexpr std::string_view name = "momentum", brief = "Momentum: changes param and velocity in place.";

    template <class P, class S, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& velocity, G const& grad,
                    MomentumOptions const& options = {}) {
        momentum(exec, param, velocity, grad, options);
    }
};

}  // namespace rowan::inline v0
