// rowan/op/optimizer/rowwise_adagrad.hpp: rowwise_adagrad_op, row-wise AdaGrad as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See rowwise_adagrad; the gradient may be dense or row-sparse.
struct rowwise_adagrad_op : detail::declared<rowwise_adagrad_op> {
    template <class P, class S, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, G const& grad,
                    AdaGradOptions const& options = {}) {
        rowwise_adagrad(exec, param, moment, grad, options);
    }
};

}  // namespace rowan::inline v0
