// rowan/op/optimizer/adam.hpp: adam_op, Adam as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/adam.hpp>
#include <rowan/sparse/detail/optimizer.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See adam; the gradient may be dense or row-sparse.
struct adam_op : detail::declared<adam_op> {
    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& moment2, G const& grad,
                    AdamOptions const& options = {}) {
        adam(exec, param, moment, moment2, grad, options);
    }
};

}  // namespace rowan::inline v0
