// rowan/op/optimizer/adagrad.hpp: adagrad_op, AdaGrad as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/detail/optimizer.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See adagrad; the gradient may be dense or row-sparse.
struct adagrad_op : detail::declared<adagrad_op> {
    template <class P, class S, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, G const& grad,
                    AdaGradOptions const& options = {}) {
        adagrad(exec, param, moment, grad, options);
    }
};

}  // namespace rowan::inline v0
