// rowan/op/optimizer/lamb.hpp: lamb_op, LAMB as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/lamb.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See lamb; the gradient may be dense or row-sparse, and the update is dense.
struct lamb_op : detail::declared<lamb_op> {
    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& moment2, G const& grad,
                    LambOptions const& options = {}) {
        lamb(exec, param, moment, moment2, grad, options);
    }
};

}  // namespace rowan::inline v0
