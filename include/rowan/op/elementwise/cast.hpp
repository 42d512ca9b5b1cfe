// rowan/op/elementwise/cast.hpp: cast, a tensor converted to another element type.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace rowan::inline v0 {

namespace detail {

/// Whether a cast from From to To truncates floating-point numbers to integers, where they may be out of range.
template <class To, class From>
inline constexpr bool cast_may_fail =
    std::integral<sum_t<To>>&& std::floating_point<sum_t<From>> && !std::same_as<To, bool>;

/// The least value of an integer type I and the power of two above its greatest value, converted to S.
template <class I, class S>
inline constexpr S least_whole = static_cast<S>(std::numeric_limits<I>::min());
template <class I, class S>
inline constexpr S after_wholes = 2 * static_cast<S>(std::numeric_limits<I>::max() / 2 + 1);

/// Whether To can represent trunc(x); false for NaN.
template <class To, class S>
ROWAN_HD bool holds_whole_part(S x) {
    using I = std::conditional_t<std::integral<To>, To, sum_t<To>>;
    constexpr S least = least_whole<I, S>, after = after_wholes<I, S>;
    S const whole = std::trunc(x);
    return whole >= least && whole < after;
}

template <class To, class From>
struct CastElement {
    From const* from;
    To* to;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        auto const wide = dtype<From>::widen(from[i]);
        if constexpr (std::same_as<To, bool>) {
            to[i] = wide != sum_t<From>{};
        } else {
            to[i] = dtype<To>::narrow(static_cast<sum_t<To>>(wide));
        }
    }
};

template <class To, class From>
[[noreturn]] void refuse_cast(std::size_t i, From const& x) {
    throw ValueError({"x[", i, "]"}, static_cast<double>(dtype<From>::widen(x)),
                     {"a number whose integer part ", dtype<To>::name, " holds"});
}

/// Checks on a device that To can represent the truncated elements. The Thrust specialization is in
/// rowan/thrust/op/cast.hpp.
template <class D>
struct CastCheck {
    static_assert(has_backend<D>, "rowan: cast on a Thrust device needs #include <rowan/thrust/op/cast.hpp>");
};

template <>
struct CastCheck<Cpu> {
    template <class To, class From>
    static void check(Cpu exec, std::size_t n, From const* from) {
        std::size_t const bad =
            first_misfit(exec, n, [&](std::size_t i) { return holds_whole_part<To>(dtype<From>::widen(from[i])); });
        if (bad != n) refuse_cast<To>(bad, from[bad]);
    }
};

}  // namespace detail

template <class To>
struct detail::function_of<cast_op<To>> {
    template <class From, class D>
    static Tensor<To, D> run(D const& exec, Tensor<From, D> const& x) {
        ElementLoops<D>::check(exec, x);
        if constexpr (cast_may_fail<To, From>) CastCheck<D>::template check<To>(exec, x.size(), x.data());
        auto out = new_tensor<To>(exec, x.shape());
        ElementLoops<D>::each(exec, x.size(), 1, CastElement<To, From>{x.data(), out.data()});
        return out;
    }
};

/// Casts the gradient back to the element type of x; neither type may be an integer type. Only the type and shape of x
/// are used.
struct cast_grad_op : operator_of<slots<slot::x, grad_of<slot::out>>, slots<grad_of<slot::x>>> {
    static constexpr std::string_view name = "cast_grad";

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& out_grad) {
        spec::dense("cast_grad: x", x);
        VarSpec x_grad = spec::elementwise("cast_grad: out@GRAD", out_grad);
        x_grad.dims = spec::same_dims("cast_grad: out@GRAD", out_grad, x);
        x_grad.dtype = x.dtype;
        return x_grad;
    }

    /// errors   ShapeError if the shapes differ
    template <class From, class To, class D>
    requires(!std::integral<detail::sum_t<From>> &&
             !std::integral<detail::sum_t<To>>) static Tensor<From, D> run(D exec, Tensor<From, D> const& x,
                                                                           Tensor<To, D> const& out_grad) {
        detail::check_same_shape("out_grad", out_grad, x);
        return cast<From>(exec, out_grad);
    }
};

/// See cast. The element type of the result is part of the operator: the names are cast_f32 and so on.
template <class To>
struct cast_op : detail::declared<cast_op<To>> {
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = grad_rule<cast_grad_op>;

    static constexpr VarSpec infer(VarSpec const& x) {
        VarSpec out = spec::elementwise("cast: x", x);
        out.dtype = dtype<To>::wire;
        return out;
    }

    template <class From, class D>
    requires detail::castable<To, From>
    static Tensor<To, D> run(D exec, Tensor<From, D> const& x) { return cast<To>(exec, x); }
};

}  // namespace rowan::inline v0
