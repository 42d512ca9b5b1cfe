// rowan/op/optimizer/adam.hpp: adam_op, Adam as an operator.
#pragma once

#include <rowan/op/detail/optimizer_op.hpp>
#include <rowan/sparse/adam.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See adam; the gradient may be dense or row-sparse.
struct adam_op : detail::optimizer_op<AdamOptions, slot::moment, slot::moment2> {
    using itself = adam_op;
    static constexpr std::string_view name = "adam";
    static constexpr std::string_view brief = "Adam, or AdamW if decoupled: changes param and both moments in place.";

    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& moment2, G const& grad,
                    AdamOptions const& options = {}) {
        adam(exec, param, moment, moment2, grad, options);
    }
};

}  // namespace rowan::inline v0
