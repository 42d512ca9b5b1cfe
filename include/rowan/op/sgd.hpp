// rowan/op/sgd.hpp: sgd_op, gradient descent as an operator.
#pragma once

#include <rowan/op/detail/optimizer_op.hpp>
#include <rowan/sparse/sgd.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// The settings of sgd.
struct SgdOptions {
    double learning_rate = 0.01;  ///< step size
};

/// See sgd; the gradient may be dense or row-sparse.
struct sgd_op : detail::optimizer_op<SgdOptions> {
    static constexpr std::string_view name = "sgd";

    template <class P, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, G const& grad, double learning_rate) {
        sgd(exec, param, grad, learning_rate);
    }
    template <class P, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, G const& grad, SgdOptions const& options = {}) {
        sgd(exec, param, grad, options.learning_rate);
    }
};

}  // namespace rowan::inline v0
