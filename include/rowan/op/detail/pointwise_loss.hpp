// rowan/op/detail/pointwise_loss.hpp: operators that apply a loss to the elements of x and y, made from its formula.
#pragma once

#include <rowan/detail/extremes.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/operator.hpp>

#include <optional>

namespace rowan::inline v0 {

namespace detail {

template <class Formula>
inline constexpr bool is_of_difference = requires {
    Formula::of_difference;
};

template <class Formula>
struct LossValue {
    typename Formula::options options;

    ROWAN_FORMULA V operator()(V const& x, V const& y) const { return Formula::value(x, y, options); }
};

/// kept[i] = 0 if label i is the ignored one, else 1.
template <class T>
struct KeepElement {
    T const* label;
    sum_t<T> ignored;
    double* kept;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        kept[i] = same_or_nan(load<sum_t<T>>(label + i), ignored) ? 0 : 1;
    }
};

/// Writes `zero` for elements that do not count.
template <class To>
struct ZeroIgnored {
    double const* kept;
    To zero;
    To* to;

    ROWAN_KERNEL void operator()(std::size_t i) const {
        if (kept[i] == 0) to[i] = zero;
    }
};

/// Whether each element of a loss counts, if its options have a label to ignore.
template <class T, class D>
class KeptElements {
    using Loops = ElementLoops<D>;
    using S = sum_t<T>;

public:
    template <class Options>
    KeptElements(D const& exec, Tensor<T, D> const& label, Options const& options)
        : n_(label.size()), ignores_(ignored(options).has_value()),
          kept_(Loops::template scratch<double>(exec, ignores_ ? n_ + 1 : 0)) {
        if (!ignores_) return;
        S const value = constant<S>(static_cast<double>(*ignored(options)));
        Loops::each(exec, n_, 1, KeepElement<T>{label.data(), value, kept_.data()});
        Totals<D>::template of_losses<double>(exec, n_, kept_.data(), false, kept_.data() + n_);
    }

    /// The number of elements that count, or nullptr for all.
    double const* total() const { return ignores_ ? kept_.data() + n_ : nullptr; }

    /// Sets the elements that do not count to `zero`.
    template <class To>
    void clear(D const& exec, To zero, To* to) const {
        if (ignores_) Loops::each(exec, n_, 1, ZeroIgnored<To>{kept_.data(), zero, to});
    }

private:
    template <class Options>
    static std::optional<std::int64_t> ignored([[maybe_unused]] Options const& options) {
        if constexpr (requires { options.ignore_index; }) {
            return options.ignore_index;
        } else {
            return {};
        }
    }

    std::size_t n_;
    bool ignores_;
    decltype(Loops::template scratch<double>(std::declval<D const&>(), 0)) kept_;
};

/// Writes the gradient of x, or that of y, which is its negative. A row is the gradient of the reduced loss. `total` is
/// the number of elements that count, or nullptr for all.
template <class Formula, bool of_y, class T>
struct LossGradStep {
    using S = sum_t<T>;
    typename Formula::options options;
    T const *x, *y, *out_grad;
    LossGrads<T> reduced;
    T* to;
    double const* total = nullptr;

    ROWAN_KERNEL S of_row(std::size_t) const {
        if (total == nullptr || options.reduction != Reduction::mean) return reduced(0);
        return mean_of(load<S>(out_grad), *total);
    }

    ROWAN_FORMULA void at(S const& row, std::size_t i) const {
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
    S const zero = constant<S>(0.0);
    if (options.reduction == Reduction::none) {
        auto out = zip_elements<S>(exec, value, x, y);
        KeptElements<T, D>(exec, y, options).clear(exec, dtype<T>::narrow(zero), out.data());
        return out;
    }
    ElementLoops<D>::check(exec, x, y);
    KeptElements<T, D> const kept(exec, y, options);
    auto losses = ElementLoops<D>::template scratch<S>(exec, x.size());
    ElementLoops<D>::template zip<S>(exec, x.size(), value, losses.data(), x.data(), y.data());
    kept.clear(exec, zero, losses.data());
    return reduce<T>(exec, options.reduction, losses, kept.total());
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
    KeptElements<T, D> const kept(exec, y, options);
    LossGrads<T> const reduced{out_grad.data(), options.reduction, x.size()};
    LossGradStep<Formula, of_y, T> const step{options, x.data(),    y.data(),    out_grad.data(),
                                              reduced, grad.data(), kept.total()};
    ElementLoops<D>::template each_in_rows<S>(exec, 1, x.size(), step);
    kept.clear(exec, dtype<T>::narrow(constant<S>(0.0)), grad.data());
    return grad;
}

struct grad_y_suffix {
    static constexpr std::string_view name = "_grad_y";
};

}  // namespace detail

template <class Formula, bool of_y>
struct pointwise_loss_grad_op;

/// An operator that applies a loss to the elements of x and y and reduces the results.
template <class Formula>
struct pointwise_loss_op : detail::builtin_op<pointwise_loss_op<Formula>, slots<slot::x, slot::y>, slots<slot::out>,
                                              typename Formula::options> {
    static constexpr std::string_view name = Formula::name, brief = Formula::brief;
    using attributes = typename Formula::options;
    using grad = std::conditional_t<
        detail::is_of_difference<Formula>,
        grad_rules<grad_rule<pointwise_loss_grad_op<Formula, false>>, grad_rule<pointwise_loss_grad_op<Formula, true>>>,
        grad_rule<pointwise_loss_grad_op<Formula, false>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, attributes const& a) {
        detail::check_loss<Formula>(a);
        VarSpec const all = spec::elementwise(detail::joined_name<Formula, detail::y_suffix>::value.data(), y, x);
        if (a.reduction == Reduction::none) return all;
        return spec::with_dims(x, {1});
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, attributes const& a) {
        return detail::pointwise_loss<Formula>(exec, x, y, a);
    }
};

/// The gradient of x or y of a pointwise_loss_op.
template <class Formula, bool of_y>
struct pointwise_loss_grad_op
    : operator_of<slots<slot::x, slot::y, grad_of<slot::out>>,
                  slots<grad_of<std::conditional_t<of_y, slot::y, slot::x>>>, typename Formula::options> {
    static constexpr std::string_view name =
        detail::joined_name<Formula, std::conditional_t<of_y, detail::grad_y_suffix, detail::grad_op_suffix>>::value;
    using attributes = typename Formula::options;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, VarSpec const& out_grad, attributes const& a) {
        spec::elementwise(detail::joined_name<Formula, detail::out_grad_suffix>::value.data(), out_grad,
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

/// Defines the loss f, with and without an execution, and its operator f_op, from detail::f_formula and its options.
#define ROWAN_LOSS(f, Options)                                                                                 \
    template <class T, device D>                                                                               \
    Tensor<T, D> f(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Options const& options = {}) { \
        return detail::pointwise_loss<detail::f##_formula>(exec, x, y, options);                               \
    }                                                                                                          \
    template <class T, class Device>                                                                           \
    Tensor<T, Device> f(Tensor<T, Device> const& x, Tensor<T, Device> const& y, Options const& options = {}) { \
        return f(x.device(), x, y, options);                                                                   \
    }                                                                                                          \
    using f##_op = pointwise_loss_op<detail::f##_formula>; /**< See f. */
