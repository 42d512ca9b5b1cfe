// rowan/op/elementwise/full_like.hpp: full_like_op, a tensor of the shape of another, filled with one value.
#pragma once

#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/full.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

/// See full; the shape and the element type are those of x.
struct full_like_op : detail::declared<full_like_op> {
    static constexpr unsigned row_inputs = 0b1;
    static constexpr Linearity linearity = Linearity::constant;
    using grad = gradient<full_like_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, FullLikeOptions const& = {}) {
        return spec::elementwise("full_like: x", x);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, FullLikeOptions const& options = {}) {
        return Tensor<T, D>::full(exec, x.shape(), detail::as_element<T>(options.value));
    }

    /// The gradient of full_like, whose result does not depend on the elements of x: zeros.
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& out_grad) {
        return Tensor<T, D>::zeros(exec, out_grad.shape());
    }
};

}  // namespace rowan::inline v0
