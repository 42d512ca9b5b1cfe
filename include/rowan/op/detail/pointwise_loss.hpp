// rowan/op/detail/pointwise_loss.hpp: operators that apply a loss to the elements of x and y, made from its formula.
#pragma once

#include <rowan/core/detail/bit_cast.hpp>
#include <rowan/core/detail/number_range.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/extremes.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/loss/functions.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

template <class Formula>
inline constexpr bool is_of_difference = requires {
    Formula::of_difference;
};

/// A loss whose options have a weight of positives, elements whose label is 1.
template <class Formula>
concept weighs_positives = requires(typename Formula::options const& options) {
    options.pos_weight;
};

/// The value and the slope of a formula. With p as the weight of positives it is p · y · that of label 1 and (1 - y) ·
/// that of label 0.
template <class Formula>
struct LossFormula {
    typename Formula::options options;
    double positives = 1;

    explicit LossFormula(typename Formula::options const& given) : options(given) {
        if constexpr (weighs_positives<Formula>) positives = given.pos_weight.value_or(1);
    }

    ROWAN_FORMULA V value(V const& x, V const& y) const {
        if constexpr (weighs_positives<Formula>) {
            V const zero = constant<V>(0.0), one = constant<V>(1.0);
            if (positives != 1) return of_both(y, Formula::value(x, one, options), Formula::value(x, zero, options));
        }
        return Formula::value(x, y, options);
    }
    ROWAN_FORMULA V slope(V const& x, V const& y) const {
        if constexpr (weighs_positives<Formula>) {
            V const zero = constant<V>(0.0), one = constant<V>(1.0);
            if (positives != 1) return of_both(y, Formula::slope(x, one, options), Formula::slope(x, zero, options));
        }
        return Formula::slope(x, y, options);
    }

private:
    ROWAN_FORMULA V of_both(V const& y, V const& of_one, V const& of_zero) const {
        V const share = product(constant<V>(positives), y);
        return product(share, of_one) + product(V(constant<V>(1.0) - y), of_zero);
    }
};

/// 0 - x
struct negative_number {
    ROWAN_FORMULA V operator()(V const& x) const { return constant<V>(0.0) - x; }
};

/// weight · x, or 0 for a weight of 0, whatever x is.
ROWAN_FORMULA V weighed(V const& weight, V const& x) {
    V const zero = constant<V>(0.0);
    return choose(weight > zero, product(weight, x), zero);
}

template <class Formula>
struct LossValue {
    LossFormula<Formula> formula;

    ROWAN_FORMULA V operator()(V const& x, V const& y) const { return formula.value(x, y); }
    ROWAN_FORMULA V operator()(V const& x, V const& y, V const& weight) const {
        return weighed(weight, V(formula.value(x, y)));
    }
};

/// to[i] = the weight of the row of element i, which is 1 if there are none; 0 if its label is to be ignored.
template <class T>
struct WeighElement {
    T const *label, *weights;
    bool ignores;
    sum_t<T> ignored;
    std::size_t width;
    double* to;

    ROWAN_KERNEL double of_row(std::size_t row) const {
        return weights == nullptr ? 1 : static_cast<double>(dtype<T>::widen(weights[row]));
    }
    ROWAN_KERNEL void operator()(double weight, std::size_t row, std::size_t column) const {
        std::size_t const i = row * width + column;
        to[i] = ignores && same_or_nan(load<sum_t<T>>(label + i), ignored) ? 0 : weight;
    }
};

/// Multiplies n numbers, and stores their given sum behind them, by the power of two that brings the sum to [1, 2), or
/// close to it if the sum is subnormal: so neither products with losses nor sums of these overflow or vanish if their
/// mean does not.
struct ScaleToSum {
    std::size_t n;
    double const* sum;
    double* to;

    ROWAN_HD void operator()(std::size_t i) const {
        std::uint64_t const exponent = detail::bit_cast<std::uint64_t>(*sum) >> 52;
        double const factor = detail::bit_cast<double>((2046 - (exponent == 0 ? 1 : exponent)) << 52);
        to[i] = (i == n ? *sum : to[i]) * factor;
    }
};

/// Weights whose sums are finite.
inline constexpr NumberRange range_of_weights{0, 1e150, "in [0, 1e150]"};

/// errors   ShapeError if the weights are not one for each row of x
template <class T, class D>
void check_row_weights(Tensor<T, D> const& weights, Tensor<T, D> const& x) {
    check_rows("x", x);
    if (weights.dimension() != 1 || weights.size() != x.shape()[0])
        throw ShapeError("weights.shape()", shape_text(weights.shape()),
                         {"[", x.shape()[0], "], one for each row of x"});
}

/// How often each element of a loss counts: the weight of its row, or 0 if its label is the one to ignore; and behind
/// these their sum.
template <class T, class D>
class ElementWeights {
    using Loops = ElementLoops<D>;
    using S = sum_t<T>;

public:
    /// errors   ValueError if a weight is negative or not a number
    template <class Options>
    ElementWeights(D const& exec, Tensor<T, D> const& label, Tensor<T, D> const* weights, Options const& options)
        : n_(label.size()), given_(weights != nullptr || ignored(options)),
          divides_(given_ && options.reduction == Reduction::mean),
          all_(Loops::template scratch<double>(exec, given_ ? n_ + 2 : 0)) {
        if (!given_) return;
        std::size_t rows = n_;
        T const* of_rows = nullptr;
        if (weights != nullptr) {
            Loops::check_range(exec, "weights", *weights, range_of_weights);
            rows = weights->size();
            of_rows = weights->data();
        }
        auto const other = ignored(options);
        std::size_t const width = n_ / std::max<std::size_t>(rows, 1);
        S const value = constant<S>(static_cast<double>(other.value_or(0)));
        WeighElement<T> const weigh{label.data(), of_rows, other.has_value(), value, width, all_.data()};
        Loops::each_element(exec, rows, width, weigh);
        if (!divides_) return;
        double *const sum = all_.data() + n_, *const plain = of_rows == nullptr ? sum : sum + 1;
        Totals<D>::template of_losses<double>(exec, n_, all_.data(), false, plain);
        if (of_rows != nullptr) Loops::each(exec, n_ + 1, 1, ScaleToSum{n_, plain, all_.data()});
    }

    /// Those of all elements, or nullptr: each counts once.
    double const* data() const { return given_ ? all_.data() : nullptr; }
    /// Their sum, if the loss is a mean that divides by it, or nullptr.
    double const* total() const { return divides_ ? all_.data() + n_ : nullptr; }

    /// to[i] = map(x[i], y[i]), or map(x[i], y[i], weight)
    template <class Map, class To>
    void zip(D const& exec, Map const& map, To* to, T const* x, T const* y) const {
        given_ ? Loops::template zip<S>(exec, n_, map, to, x, y, data())
               : Loops::template zip<S>(exec, n_, map, to, x, y);
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
    bool given_, divides_;
    decltype(Loops::template scratch<double>(std::declval<D const&>(), 0)) all_;
};

/// Writes the gradient of x, or that of y, which is its negative. A row is the gradient of the reduced loss. `weights`
/// are those of the elements, or nullptr; `total` is their sum if the loss is a mean that divides by it, or nullptr.
template <class Formula, bool of_y, class T>
struct LossGradStep {
    using S = sum_t<T>;
    LossFormula<Formula> formula;
    T const *x, *y, *out_grad;
    LossGrads<T> reduced;
    T* to;
    double const *weights, *total;

    ROWAN_KERNEL S of_row(std::size_t) const {
        if (total == nullptr) return reduced(0);
        return mean_of(load<S>(out_grad), *total);
    }

    ROWAN_FORMULA void at(S const& row, std::size_t i) const {
        V const g = reduced.reduction == Reduction::none ? load<V>(out_grad + i) : V(row);
        V grad = product(formula.slope(load<V>(x + i), load<V>(y + i)), g);
        if (weights != nullptr) grad = weighed(load<V>(weights + i), grad);
        store(of_y ? V(constant<V>(0.0) - grad) : grad, to + i);
    }
};

/// errors   ValueError if an option is out of range
template <class Formula>
constexpr void check_loss(typename Formula::options const& options) {
    if constexpr (requires { Formula::check(options); }) Formula::check(options);
    if constexpr (weighs_positives<Formula>) {
        double const positives = options.pos_weight.value_or(1);
        check_finite("pos_weight", positives);
        if (positives < 0) throw ValueError("pos_weight", positives, "at least 0");
    }
}

/// Checks the arguments of a loss but the values of the weights.
template <class Formula, class D, class T, class... Grad>
void check_loss(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const* weights,
                typename Formula::options const& options, Grad const&... out_grad) {
    static_assert(floating_element<T>, "rowan: this loss needs x and y of a floating-point type: convert them");
    check_loss<Formula>(options);
    check_same_shape("y", y, x);
    if (weights != nullptr) check_row_weights(*weights, x);
    if (options.reduction == Reduction::none) {
        (check_same_shape("out_grad", out_grad, x), ...);
    } else {
        (check_reduced("out_grad", out_grad, options.reduction, x.size()), ...);
    }
    ElementLoops<D>::check(exec, x, y, out_grad...);
    if (weights != nullptr) ElementLoops<D>::check(exec, *weights);
}

/// The losses of the elements, or their mean or sum.
template <class Formula, class D, class T>
Tensor<T, D> pointwise_loss(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const* weights,
                            typename Formula::options const& options) {
    check_loss<Formula>(exec, x, y, weights, options);
    LossValue<Formula> const value{LossFormula<Formula>(options)};
    ElementWeights<T, D> const counted(exec, y, weights, options);
    if (options.reduction == Reduction::none) {
        auto out = new_tensor<T>(exec, x.shape());
        counted.zip(exec, value, out.data(), x.data(), y.data());
        return out;
    }
    auto losses = ElementLoops<D>::template scratch<sum_t<T>>(exec, x.size());
    counted.zip(exec, value, losses.data(), x.data(), y.data());
    return reduce<T>(exec, options.reduction, losses, counted.total());
}

template <class Formula, bool of_y, class D, class T>
Tensor<T, D> pointwise_loss_grad(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y,
                                 Tensor<T, D> const* weights, Tensor<T, D> const& out_grad,
                                 typename Formula::options const& options) {
    check_loss<Formula>(exec, x, y, weights, options, out_grad);
    ElementWeights<T, D> const counted(exec, y, weights, options);
    auto grad = new_tensor<T>(exec, x.shape());
    if (x.size() == 0) return grad;
    LossGradStep<Formula, of_y, T> const step{LossFormula<Formula>(options),
                                              x.data(),
                                              y.data(),
                                              out_grad.data(),
                                              {out_grad.data(), options.reduction, x.size()},
                                              grad.data(),
                                              counted.data(),
                                              counted.total()};
    ElementLoops<D>::template each_in_rows<sum_t<T>>(exec, 1, x.size(), step);
    return grad;
}

/// The functions of a loss without and with weights.
template <class Formula>
struct loss_function {
    using options = typename Formula::options;

    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, options const& given) {
        Tensor<T, D> const* const no_weights = nullptr;
        return pointwise_loss<Formula>(exec, x, y, no_weights, given);
    }
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const& weights,
                            options const& given) {
        return pointwise_loss<Formula>(exec, x, y, &weights, given);
    }
};

struct grad_y_suffix {
    static constexpr std::string_view name = "_grad_y";
};
struct weights_suffix {
    static constexpr std::string_view name = ": weights";
};

template <class Formula>
using gradients_of_loss =
    std::conditional_t<is_of_difference<Formula>, makes<grad_of<slot::x>, grad_of<slot::y>>, makes<grad_of<slot::x>>>;

/// The spec of a loss, given the name of y in errors.
template <class Formula>
constexpr VarSpec infer_loss(char const* y_field, VarSpec const& x, VarSpec const& y,
                             typename Formula::options const& a) {
    check_loss<Formula>(a);
    VarSpec const all = spec::elementwise(y_field, y, x);
    return a.reduction == Reduction::none ? all : spec::with_dims(x, {1});
}

}  // namespace detail

template <class Op, class Formula, bool of_y>
struct pointwise_loss_grad_op;

/// An operator that applies a loss to the elements of x and y and reduces the results.
template <class Op, class Formula>
struct pointwise_loss_op : detail::declared<Op> {
    using attributes = typename detail::declared<Op>::attributes;
    static_assert(std::is_same_v<attributes, typename Formula::options>);
    using grad = std::conditional_t<detail::is_of_difference<Formula>,
                                    grad_rules<grad_rule<pointwise_loss_grad_op<Op, Formula, false>>,
                                               grad_rule<pointwise_loss_grad_op<Op, Formula, true>>>,
                                    grad_rule<pointwise_loss_grad_op<Op, Formula, false>>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, attributes const& a) {
        return detail::infer_loss<Formula>(detail::joined_name<detail::declared<Op>, detail::y_suffix>::value.data(), x,
                                           y, a);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, attributes const& a) {
        return detail::run_of<Op, Tensor<T, D>>(exec, x, y, a);
    }
};

/// The gradient of x or y of a pointwise_loss_op.
template <class Op, class Formula, bool of_y>
struct pointwise_loss_grad_op
    : operator_of<slots<slot::x, slot::y, grad_of<slot::out>>,
                  slots<grad_of<std::conditional_t<of_y, slot::y, slot::x>>>, typename Formula::options> {
    static constexpr std::string_view name =
        detail::joined_name<detail::declared<Op>,
                            std::conditional_t<of_y, detail::grad_y_suffix, detail::grad_op_suffix>>::value;
    using attributes = typename Formula::options;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, VarSpec const& out_grad, attributes const& a) {
        spec::elementwise(detail::joined_name<detail::declared<Op>, detail::out_grad_suffix>::value.data(), out_grad,
                          Op::infer(x, y, a));
        return of_y ? y : x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const& out_grad,
                            attributes const& a) {
        Tensor<T, D> const* const no_weights = nullptr;
        return detail::pointwise_loss_grad<Formula, of_y>(exec, x, y, no_weights, out_grad, a);
    }
};

/// A pointwise_loss_op with a weight for each row of x, by whose sum over the elements the mean divides.
template <class Op, class Formula>
struct weighted_loss_op : detail::declared<Op> {
    using attributes = typename detail::declared<Op>::attributes;
    static_assert(std::is_same_v<attributes, typename Formula::options>);
    using grad =
        gradient<Op, uses<slot::x, slot::y, slot::weights, grad_of<slot::out>>, detail::gradients_of_loss<Formula>>;

    static constexpr Linearity linearity(attributes const& a) {
        if (a.reduction == Reduction::mean) return Linearity::weighed_mean;
        return a.reduction == Reduction::sum ? Linearity::weighed_sum : Linearity::none;
    }

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y, VarSpec const& weights, attributes const& a) {
        constexpr char const* field = detail::joined_name<detail::declared<Op>, detail::weights_suffix>::value.data();
        auto const out = detail::infer_loss<Formula>(
            detail::joined_name<detail::declared<Op>, detail::y_suffix>::value.data(), x, y, a);
        spec::rows(detail::joined_name<detail::declared<Op>, detail::x_suffix>::value.data(), x);
        spec::dense(field, weights);
        spec::same_dtype(field, weights, x);
        spec::rank(field, weights, 1, "1, a weight for each row of x");
        static_cast<void>(spec::same_dim(field, 0, weights.dims[0], x.dims[0]));
        if (weights.lod_level != 0) spec::same_levels(field, weights, x);
        return out;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const& weights,
                            attributes const& a) {
        return detail::run_of<Op, Tensor<T, D>>(exec, x, y, weights, a);
    }

    /// The gradient of x, and that of y if the loss depends on their difference. The weights have none.
    /// shapes   x and y [...], weights [n], out_grad [1], or [...] without reduction -> both [...]
    /// errors   as the loss; ShapeError if out_grad has another shape than its result
    /// cost     that of the loss, and a pass for y
    template <class T, class D>
    static auto backward(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y, Tensor<T, D> const& weights,
                         Tensor<T, D> const& out_grad, attributes const& a) {
        auto grad = detail::pointwise_loss_grad<Formula, false>(exec, x, y, &weights, out_grad, a);
        if constexpr (detail::is_of_difference<Formula>) {
            auto of_y = detail::zip_elements<detail::sum_t<T>>(exec, detail::negative_number{}, grad);
            return std::tuple<Tensor<T, D>, Tensor<T, D>>(std::move(grad), std::move(of_y));
        } else {
            return grad;
        }
    }
};

}  // namespace rowan::inline v0

/// Defines the operator of the loss f with weights of rows from detail::f_formula.
#define ROWAN_WEIGHTED_LOSS_OP(f)                                                                          \
    struct weighted_##f##_op : weighted_loss_op<weighted_##f##_op, detail::f##_formula> {}; /**< See f. */ \
    template <>                                                                                            \
    struct detail::function_of<weighted_##f##_op> : detail::loss_function<detail::f##_formula> {};

/// Defines the operators of the loss f, without and with weights, whose functions losses of functions.hpp declares.
#define ROWAN_LOSS_OP(f)                                                                \
    struct f##_op : pointwise_loss_op<f##_op, detail::f##_formula> {}; /**< See f. */   \
    template <>                                                                         \
    struct detail::function_of<f##_op> : detail::loss_function<detail::f##_formula> {}; \
    ROWAN_WEIGHTED_LOSS_OP(f)
