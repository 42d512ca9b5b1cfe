// rowan/op/optimizer/rmsprop.hpp: rmsprop_op, RMSProp as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/rmsprop.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See rmsprop; the gradient may be dense or row-sparse.
struct rmsprop_op : detail::declared<rmsprop_op> {
    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& velocity, G const& grad,
                    RmsPropOptions const& options = {}) {
        rmsprop(exec, param, moment, velocity, grad, options);
    }
};

}  // namespace rowan::inline v0
