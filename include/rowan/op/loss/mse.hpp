// rowan/op/loss/mse.hpp: mse, the squared error and its mean.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/loss_formulas.hpp>
#include <rowan/op/detail/pointwise_loss.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/loss/functions.hpp>
#include <rowan/op/operator.hpp>

namespace rowan::inline v0 {

namespace detail {

/// Twice the gradient of the reduced loss.
template <class T>
struct MseFactor {
    LossGrads<T> grads;

    ROWAN_KERNEL sum_t<T> operator()() const { return product(constant<sum_t<T>>(2.0), grads(0)); }
};

/// (a - b) · factor()
template <class Factor>
struct times_difference {
    Factor factor;

    ROWAN_FORMULA V operator()(V const& a, V const& b) const { return product(V(a - b), V(factor())); }
};

/// (a - b) · 2 g
struct difference_times {
    ROWAN_FORMULA V operator()(V const& a, V const& b, V const& g) const {
        return product(V(a - b), product(constant<V>(2.0), g));
    }
};

}  // namespace detail

template <>
struct detail::function_of<mse_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, LossOptions const& options) {
        check_same_shape("y", y, x);
        if (options.reduction == Reduction::none) return zip_elements<sum_t<T>>(exec, squared_difference{}, x, y);
        ElementLoops<D>::check(exec, x, y);
        auto out = new_tensor<T>(exec, {1});
        Totals<D>::of_squares(exec, x.size(), x.data(), y.data(), options.reduction == Reduction::mean, out.data());
        return out;
    }
};

/// See mse.
struct mse_op : detail::declared<mse_op> {
    using grad =
        gradient<mse_op, uses<slot::x, slot::y, grad_of<slot::out>>, makes<grad_of<slot::x>, grad_of<slot::y>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, LossOptions const& options = {}) {
        VarSpec const all = spec::elementwise("mse: y", y, x);
        if (options.reduction == Reduction::none) return all;
        return spec::with_dims(x, {1});
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, LossOptions const& options = {}) {
        return mse(exec, x, y, options);
    }

    /// The gradients of x and of y: 2 · (x - y) · out_grad, divided by the size if the result is a mean, and its negative.
    /// shapes   x [...], y [...], out_grad [1], or [...] without reduction -> both [...]
    /// errors   ShapeError if the shapes do not match
    /// cost     two reads of both and two writes
    template <class T, class D>
    static std::tuple<Tensor<T, D>, Tensor<T, D>> backward(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                                           Tensor<T, D> const& out_grad,
                                                           LossOptions const& options = {}) {
        using S = detail::sum_t<T>;
        static_assert(floating_element<T>, "rowan::mse: x and y must have a floating-point type");
        detail::check_same_shape("y", y, x);
        if (options.reduction == Reduction::none) {
            detail::check_same_shape("out_grad", out_grad, x);
            detail::difference_times const formula{};
            return {detail::zip_elements<S>(exec, formula, x, y, out_grad),
                    detail::zip_elements<S>(exec, formula, y, x, out_grad)};
        }
        detail::check_reduced("out_grad", out_grad, options.reduction, 1);
        detail::ElementLoops<D>::check(exec, out_grad);
        auto const factor =
            detail::ElementLoops<D>::value_of(detail::MseFactor<T>{{out_grad.data(), options.reduction, x.size()}});
        detail::times_difference<std::remove_const_t<decltype(factor)>> const formula{factor};
        return {detail::zip_elements<S>(exec, formula, x, y), detail::zip_elements<S>(exec, formula, y, x)};
    }
};

ROWAN_WEIGHTED_LOSS_OP(mse)

}  // namespace rowan::inline v0
