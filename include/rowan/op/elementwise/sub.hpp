// rowan/op/elementwise/sub.hpp: sub, the difference of two tensors, and negate.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/broadcast_op.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/elementwise/identity.hpp>
#include <rowan/op/operator.hpp>

#include <concepts>

namespace rowan::inline v0 {

namespace detail {

/// a - b; integers wrap around.
ROWAN_FORMULA V minus(V const& a, V const& b) {
    if constexpr (std::signed_integral<V>) {
        return static_cast<V>(static_cast<std::make_unsigned_t<V>>(a) - static_cast<std::make_unsigned_t<V>>(b));
    } else {
        return a - b;
    }
}

struct sub_formula {
    using gradient_x = same_gradient;
    struct gradient_y {
        ROWAN_FORMULA V operator()(V const&, V const&, V const& g) const { return minus(constant<V>(0.0), g); }
    };

    ROWAN_FORMULA V operator()(V const& x, V const& y) const { return minus(x, y); }
};

/// 0 - x
struct negate_formula {
    ROWAN_FORMULA V operator()(V const& x) const { return minus(constant<V>(0.0), x); }
};

}  // namespace detail

template <>
struct detail::function_of<sub_op> : detail::broadcast_function<detail::sub_formula> {};

template <>
struct detail::function_of<negate_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x) {
        return zip_elements<sum_t<T>>(exec, negate_formula{}, x);
    }
};

struct negate_op : detail::declared<negate_op> {
    static constexpr unsigned row_inputs = 0b1;
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<negate_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("negate: x", x); }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x) {
        return negate(exec, x);
    }
};

/// See sub.
struct sub_op : broadcast_op<sub_op, detail::sub_formula> {
    static constexpr Linearity linearity = Linearity::sum;
    using row_grad = grad_rules<grad_rule<identity_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>,
                                grad_rule<negate_op, uses<grad_of<slot::out>>, makes<grad_of<slot::y>>>>;
};

}  // namespace rowan::inline v0
