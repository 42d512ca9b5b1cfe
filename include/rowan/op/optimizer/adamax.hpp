// rowan/op/optimizer/adamax.hpp: adamax_op, AdaMax as an operator.
#pragma once

#include <rowan/op/operator.hpp>
#include <rowan/op/optimizer/declared.hpp>
#include <rowan/sparse/adamax.hpp>
#include <rowan/sparse/detail/optimizer.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See adamax; the gradient may be dense or row-sparse.
struct adamax_op : detail::declared<adamax_op> {
    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& norm, G const& grad,
                    AdamaxOptions const& options = {}) {
        adamax(exec, param, moment, norm, grad, options);
    }
};

}  // namespace rowan::inline v0
