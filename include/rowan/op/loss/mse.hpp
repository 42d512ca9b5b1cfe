// rowan/op/loss/mse.hpp: mse, the squared error and its mean.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/loss_formulas.hpp>
#include <rowan/op/detail/pointwise_loss.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/loss/declared.hpp>
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

/// (x - y)², computed in dtype<T>::sum: the mean over all elements, or by options.reduction their sum or all of them. The
/// mean of no elements is 0. Sums are formed in blocks of 4096 elements, each in 16 interleaved partial sums, and the
/// block sums are added in the same way. Weights of rows are those of losses.hpp.
/// shapes   x [...], y [...], maybe weights [n] -> [1], or [...] without reduction
/// errors   ShapeError if the shapes differ
/// cost     one read of both; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> mse(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, LossOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::mse: x and y must have a floating-point type: convert them");
    detail::check_same_shape("y", y, x);
    if (options.reduction == Reduction::none)
        return detail::zip_elements<detail::sum_t<T>>(exec, detail::squared_difference{}, x, y);
    detail::ElementLoops<D>::check(exec, x, y);
    auto out = detail::new_tensor<T>(exec, {1});
    detail::Totals<D>::of_squares(exec, x.size(), x.data(), y.data(), options.reduction == Reduction::mean, out.data());
    return out;
}

template <class T, class Device>
Tensor<T, Device> mse(Tensor<T, Device> const& x, Tensor<T, Device> const& y, LossOptions const& options = {}) {
    return mse(x.device(), x, y, options);
}

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

ROWAN_WEIGHTED_LOSS(mse, LossOptions)

}  // namespace rowan::inline v0
