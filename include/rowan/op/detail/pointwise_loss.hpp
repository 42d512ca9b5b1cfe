// rowan/op/detail/pointwise_loss.hpp: operators that apply a loss to the elements of x and y, made from its formula.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

template <class Formula>
inline constexpr bool is_of_difference = requires {
    Formula::of_difference;
};

template <class Formula>
struct LossValue {
    typename Formula::options options;

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE V operator()(V const& x, V const& y) const {
        return Formula::value(x, y, options);
    }
};

/// Writes the gradient of x, or that of y, which is its negative. A row is the gradient of the reduced loss.
template <class Formula, bool of_y, class T>
struct LossGradStep {
    using S = sum_t<T>;
    typename Formula::options options;
    T const *x, *y, *out_grad;
    LossGrads<T> reduced;
    T* to;

    ROWAN_HD S of_row(std::size_t) const { return reduced(0); }

    ROWAN_NO_EXEC_CHECK
    template <class V>
    ROWAN_HD_INLINE void at(S const& row, std::size_t i) const {
        V const g = options.reduction == Reduction::none ? load<V>(out_grad + i) : V(row);
        V const grad = product(Formula::slope(load<V>(x + i), load<V>(y + i), options), g);
        store(of_y ? V(constant<V>(0.0) - grad) : grad, to + i);
    }
};

/// errors   ValueError if an option is out of range
template <class Formula>
constexpr void check_loss(typename Formula::options const& options) {
    if constexpr (requires { Formula::check(options); }) Formula::check(options);
}

/// The losses of the elements, or their mean or sum.
template <class Formula, class D, class T>
Tensor<T, D> pointwise_loss(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                            typename Formula::options const& options) {
    using S = sum_t<T>;
    static_assert(floating_element<T>, "rowan: this loss needs x and y of a floating-point type: convert them");
    check_loss<Formula>(options);
    check_same_shape("y", y, x);
    LossValue<Formula> const value{options};
    if (options.reduction == Reduction::none) return zip_elements<S>(exec, value, x, y);
    ElementLoops<D>::check(exec, x, y);
    auto losses = ElementLoops<D>::template scratch<S>(exec, x.size());
    ElementLoops<D>::template zip<S>(exec, x.size(), value, losses.data(), x.data(), y.data());
    return reduce<T>(exec, options.reduction, losses);
}

template <class Formula, bool of_y, class D, class T>
Tensor<T, D> pointwise_loss_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                 Tensor<T, D> const& out_grad, typename Formula::options const& options) {
    using S = sum_t<T>;
    check_loss<Formula>(options);
    check_same_shape("y", y, x);
    if (options.reduction == Reduction::none) {
        check_same_shape("out_grad", out_grad, x);
    } else {
        check_reduced("out_grad", out_grad, options.reduction, x.size());
    }
    ElementLoops<D>::check(exec, x, y, out_grad);
    auto grad = new_tensor<T>(exec, x.shape());
    if (x.size() == 0) return grad;
    LossGradStep<Formula, of_y, T> const step{
        options, x.data(), y.data(), out_grad.data(), {out_grad.data(), options.reduction, x.size()}, grad.data()};
    ElementLoops<D>::template each_in_rows<S>(exec, 1, x.size(), step);
    return grad;
}

struct loss_grad_x_suffix {
    static constexpr std::string_view name = "_grad";
};
struct loss_grad_y_suffix {
    static constexpr std::string_view name = "_grad_y";
};
struct loss_y_suffix {
    static constexpr std::string_view name = ": y";
};
struct loss_out_grad_suffix {
    static constexpr std::string_view name = ": out@GRAD";
};

}  // namespace detail

template <class Formula, bool of_y>
struct pointwise_loss_grad_op;

/// An operator that applies a loss to the elements of x and y and reduces the results.
template <class Formula>
struct pointwise_loss_op {
    static constexpr std::string_view name = Formula::name;
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    using attributes = typename Formula::options;
    using grad = std::conditional_t<
        detail::is_of_difference<Formula>,
        grad_rules<grad_rule<pointwise_loss_grad_op<Formula, false>>, grad_rule<pointwise_loss_grad_op<Formula, true>>>,
        grad_rule<pointwise_loss_grad_op<Formula, false>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, attributes const& a) {
        detail::check_loss<Formula>(a);
        VarSpec const all = spec::elementwise(detail::joined_name<Formula, detail::loss_y_suffix>::value.data(), y, x);
        if (a.reduction == Reduction::none) return all;
        return {.type = VarType::LOD_TENSOR, .dtype = x.dtype, .dims = {1}, .lod_level = 0};
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, attributes const& a) {
        return detail::pointwise_loss<Formula>(exec, x, y, a);
    }
};

/// The gradient of x or y of a pointwise_loss_op.
template <class Formula, bool of_y>
struct pointwise_loss_grad_op {
    static constexpr std::string_view name =
        detail::joined_name<Formula,
                            std::conditional_t<of_y, detail::loss_grad_y_suffix, detail::loss_grad_x_suffix>>::value;
    using inputs = slots<slot::x, slot::y, grad_of<slot::out>>;
    using outputs = slots<grad_of<std::conditional_t<of_y, slot::y, slot::x>>>;
    using attributes = typename Formula::options;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, VarSpec const& out_grad, attributes const& a) {
        spec::elementwise(detail::joined_name<Formula, detail::loss_out_grad_suffix>::value.data(), out_grad,
                          pointwise_loss_op<Formula>::infer(x, y, a));
        return of_y ? y : x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const& out_grad,
                            attributes const& a) {
        return detail::pointwise_loss_grad<Formula, of_y>(exec, x, y, out_grad, a);
    }
};

}  // namespace rowan::inline v0
