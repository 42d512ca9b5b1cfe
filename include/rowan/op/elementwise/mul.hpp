// rowan/op/elementwise/mul.hpp: mul, the element-wise product of two tensors.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/broadcast_op.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

struct mul_formula : multiplied {
    struct gradient_x {
        ROWAN_FORMULA V operator()(V const&, V const& y, V const& g) const { return product(g, y); }
    };
    struct gradient_y {
        ROWAN_FORMULA V operator()(V const& x, V const&, V const& g) const { return product(g, x); }
    };
};

}  // namespace detail

template <>
struct detail::function_of<mul_op> : detail::broadcast_function<detail::mul_formula> {};

/// See mul. Where the shapes are the same, the gradients are element-wise products, too: out_grad · y and out_grad · x.
struct mul_op : broadcast_op<mul_op, detail::mul_formula> {
    static constexpr Linearity linearity = Linearity::product;
    using row_grad = grad_rules<grad_rule<mul_op, uses<grad_of<slot::out>, slot::y>, makes<grad_of<slot::x>>>,
                                grad_rule<mul_op, uses<grad_of<slot::out>, slot::x>, makes<grad_of<slot::y>>>>;
};

}  // namespace rowan::inline v0
