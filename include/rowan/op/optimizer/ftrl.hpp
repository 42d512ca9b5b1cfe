// rowan/op/optimizer/ftrl.hpp: ftrl_op, FTRL-proximal as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/ftrl.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See ftrl; the gradient may be dense or row-sparse.
struct ftrl_op : detail::declared<ftrl_op> {
    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& linear, G const& grad,
                    FtrlOptions const& options = {}) {
        ftrl(exec, param, moment, linear, grad, options);
    }
};

}  // namespace rowan::inline v0
