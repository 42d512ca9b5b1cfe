// rowan/op/optimizer/adadelta.hpp: adadelta_op, Adadelta as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/adadelta.hpp>
#include <rowan/sparse/detail/optimizer.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See adadelta; the gradient may be dense or row-sparse.
struct adadelta_op : detail::declared<adadelta_op> {
    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& mean_square, Tensor<M, D>& mean_step, G const& grad,
                    AdadeltaOptions const& options = {}) {
        adadelta(exec, param, mean_square, mean_step, grad, options);
    }
};

}  // namespace rowan::inline v0
