// rowan/op/optimizer/momentum.hpp: momentum_op, gradient descent with momentum as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/momentum.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See momentum; the gradient may be dense or row-sparse.
struct momentum_op : detail::declared<momentum_op> {
    template <class P, class S, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& velocity, G const& grad,
                    MomentumOptions const& options = {}) {
        momentum(exec, param, velocity, grad, options);
    }
};

}  // namespace rowan::inline v0
