// rowan/op/optimizer/ftrl.hpp: ftrl_op, FTRL-proximal as an operator.
#pragma once

#include <rowan/op/detail/optimizer_op.hpp>
#include <rowan/sparse/ftrl.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See ftrl; the gradient may be dense or row-sparse.
struct ftrl_op : detail::optimizer_op<FtrlOptions, slot::moment, slot::linear> {
    using itself = ftrl_op;
    static constexpr std::string_view name = "ftrl", brief = "FTRL: changes param and its states in place.";

    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& linear, G const& grad,
                    FtrlOptions const& options = {}) {
        ftrl(exec, param, moment, linear, grad, options);
    }
};

}  // namespace rowan::inline v0
