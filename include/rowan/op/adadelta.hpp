// rowan/op/adadelta.hpp: adadelta_op, Adadelta as an operator.
#pragma once

#include <rowan/op/detail/optimizer_op.hpp>
#include <rowan/sparse/adadelta.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// See adadelta; the gradient may be dense or row-sparse.
struct adadelta_op : detail::optimizer_op<AdadeltaOptions, slot::moment, slot::moment2> {
    static constexpr std::string_view name = "adadelta";

    template <class P, class S, class M, class D, detail::gradient_on<D> G>
    static void run(D exec, Tensor<P, D>& param, Tensor<S, D>& moment, Tensor<M, D>& moment2, G const& grad,
                    AdadeltaOptions const& options = {}) {
        adadelta(exec, param, moment, moment2, grad, options);
    }
};

}  // namespace rowan::inline v0
