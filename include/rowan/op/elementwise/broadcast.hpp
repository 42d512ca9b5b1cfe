// rowan/op/elementwise/broadcast.hpp: operators of two tensors whose shapes are broadcast, and maximum and minimum.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/sub.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/registry.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

/// How two shapes are aligned.
struct BroadcastOptions {
    std::int64_t axis = -1;  ///< the dim of x that is the first one of y, as in Paddle; -1: aligned at the last dims

    template <class Visit>
    static constexpr auto fields(Visit const& visit) {
        return visit(field{"axis", &BroadcastOptions::axis});
    }
};

namespace detail {

// A formula has a name, its value, and the gradients of x and y from x, y and the gradient g of the result.

/// x + y
struct broadcast_add {
    static constexpr std::string_view name = "broadcast_add";
    static constexpr std::string_view brief = "x + y, with y's dims at x's from an axis on, as in Paddle.";
    using value = add_formula;
    struct gradient_x {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const&, V const&, V const& g) const {
            return g;
        }
    };
    using gradient_y = gradient_x;
};

/// x - y
struct broadcast_sub {
    static constexpr std::string_view name = "broadcast_sub";
    static constexpr std::string_view brief = "x - y, with y's dims at x's from an axis on, as in Paddle.";
    using value = sub_formula;
    using gradient_x = broadcast_add::gradient_x;
    struct gradient_y {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const&, V const&, V const& g) const {
            return minus(constant<V>(0.0), g);
        }
    };
};

/// x · y
struct broadcast_mul {
    static constexpr std::string_view name = "broadcast_mul";
    static constexpr std::string_view brief = "x · y, with y's dims at x's from an axis on, as in Paddle.";
    using value = multiplied;
    struct gradient_x {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const&, V const& y, V const& g) const {
            return product(g, y);
        }
    };
    struct gradient_y {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const& x, V const&, V const& g) const {
            return product(g, x);
        }
    };
};

/// x / y
struct broadcast_div {
    static constexpr std::string_view name = "broadcast_div";
    static constexpr std::string_view brief = "x / y, with y's dims at x's from an axis on, as in Paddle.";
    using value = divided;
    struct gradient_x {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const&, V const& y, V const& g) const {
            return quotient(g, y);
        }
    };
    struct gradient_y {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const& x, V const& y, V const& g) const {
            return minus(constant<V>(0.0), quotient(product(g, quotient(x, y)), y));
        }
    };
};

/// The greater one of x and y, and its gradient: of x where both are the same. NaN propagates.
struct broadcast_max {
    static constexpr std::string_view name = "broadcast_max";
    static constexpr std::string_view brief = "The greater elements; shapes are broadcast by NumPy's rules.";
    struct value {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const& x, V const& y) const {
            return choose(x >= y, x, choose(x < y, y, plus(x, y)));
        }
    };
    struct gradient_x {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const& x, V const& y, V const& g) const {
            return choose(x >= y, g, constant<V>(0.0));
        }
    };
    struct gradient_y {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const& x, V const& y, V const& g) const {
            return choose(x < y, g, constant<V>(0.0));
        }
    };
};

/// The smaller one of x and y, and its gradient: of x where both are the same. NaN propagates.
struct broadcast_min {
    static constexpr std::string_view name = "broadcast_min";
    static constexpr std::string_view brief = "The smaller elements; shapes are broadcast by NumPy's rules.";
    struct value {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const& x, V const& y) const {
            return choose(x <= y, x, choose(x > y, y, plus(x, y)));
        }
    };
    struct gradient_x {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const& x, V const& y, V const& g) const {
            return choose(x <= y, g, constant<V>(0.0));
        }
    };
    struct gradient_y {
        ROWAN_NO_EXEC_CHECK
        template <class V>
        ROWAN_HD_INLINE V operator()(V const& x, V const& y, V const& g) const {
            return choose(x > y, g, constant<V>(0.0));
        }
    };
};

struct x_grad_suffix {
    static constexpr std::string_view name = "_grad_x";
};
struct y_grad_suffix {
    static constexpr std::string_view name = "_grad_y";
};

}  // namespace detail

/// The gradient of x or y of a broadcast_op, from both and the gradient of the result.
template <class Formula, bool of_y>
struct broadcast_grad_op : operator_of<slots<slot::x, slot::y, grad_of<slot::out>>,
                                       slots<grad_of<std::conditional_t<of_y, slot::y, slot::x>>>, BroadcastOptions> {
    static constexpr std::string_view name =
        detail::joined_name<Formula, std::conditional_t<of_y, detail::y_grad_suffix, detail::x_grad_suffix>>::value;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, VarSpec const&, BroadcastOptions const& = {}) {
        return of_y ? y : x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const& out_grad,
                            BroadcastOptions const& options = {}) {
        using Map = std::conditional_t<of_y, typename Formula::gradient_y, typename Formula::gradient_x>;
        return detail::zip_broadcast_grad<of_y>(exec, Map{}, x, y, out_grad, options.axis);
    }
};

/// An operator on the elements of two tensors whose shapes are broadcast by NumPy's rules: the last dims are aligned, a
/// dim of 1 is repeated, and so are the dims that one of them lacks.
template <class Formula>
struct broadcast_op : detail::builtin_op<slots<slot::x, slot::y>, slots<slot::out>, BroadcastOptions> {
    static constexpr std::string_view name = Formula::name, brief = Formula::brief;
    using grad = grad_rules<grad_rule<broadcast_grad_op<Formula, false>>, grad_rule<broadcast_grad_op<Formula, true>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, BroadcastOptions const& options = {}) {
        char const* const field = detail::joined_name<Formula, detail::y_suffix>::value.data();
        return detail::broadcast_spec(field, x, y, options.axis);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                            BroadcastOptions const& options = {}) {
        return detail::zip_broadcast(exec, typename Formula::value{}, x, y, options.axis);
    }
};

using broadcast_add_op = broadcast_op<detail::broadcast_add>;  ///< x + y
using broadcast_sub_op = broadcast_op<detail::broadcast_sub>;  ///< x - y
using broadcast_mul_op = broadcast_op<detail::broadcast_mul>;  ///< x · y
using broadcast_div_op = broadcast_op<detail::broadcast_div>;  ///< x / y
using broadcast_max_op = broadcast_op<detail::broadcast_max>;  ///< See maximum.
using broadcast_min_op = broadcast_op<detail::broadcast_min>;  ///< See minimum.

/// The greater one of x and y, element-wise; NaN where either is NaN.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> maximum(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::zip_broadcast(exec, detail::broadcast_max::value{}, x, y);
}
template <class X, class Y>
requires(detail::tensor_argument<X>&& detail::tensor_argument<Y>) auto maximum(X&& x, Y&& y) {
    return detail::zip_broadcast(x.device(), detail::broadcast_max::value{}, x, y);
}

/// The smaller one of x and y, element-wise; NaN where either is NaN.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
/// cost     one read of both and one write of the result
template <class T, device D>
Tensor<T, D> minimum(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
    return detail::zip_broadcast(exec, detail::broadcast_min::value{}, x, y);
}
template <class X, class Y>
requires(detail::tensor_argument<X>&& detail::tensor_argument<Y>) auto minimum(X&& x, Y&& y) {
    return detail::zip_broadcast(x.device(), detail::broadcast_min::value{}, x, y);
}

}  // namespace rowan::inline v0
