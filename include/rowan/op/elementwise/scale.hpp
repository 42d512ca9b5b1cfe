// rowan/op/elementwise/scale.hpp: scale, the elements multiplied by a factor plus a bias.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sparse/scale.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <concepts>

namespace rowan::inline v0 {

namespace detail {

/// errors   ValueError if dtype<T>::sum is an integer type that cannot represent the value
template <class T>
void check_whole_setting(char const* field, double value) {
    if constexpr (std::integral<sum_t<T>>) {
        if (!is_whole<sum_t<T>>(value)) throw ValueError(field, value, "a whole number, as the elements are integers");
    }
}

[[noreturn]] inline void sparse_bias(double bias) {
    throw ValueError("bias", bias, "0 for a SelectedRows, whose absent rows stay 0");
}

/// factor · x
struct scale_formula {
    double factor;

    ROWAN_FORMULA V operator()(V const& x) const { return product(x, constant<V>(factor)); }
};

/// factor · x + bias
struct affine_formula {
    double factor, bias;

    ROWAN_FORMULA V operator()(V const& x) const { return plus(product(x, constant<V>(factor)), constant<V>(bias)); }
};

}  // namespace detail

template <>
struct detail::function_of<scale_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, double factor, double bias) {
        using S = sum_t<T>;
        check_whole_setting<T>("factor", factor);
        check_whole_setting<T>("bias", bias);
        if (bias == 0) return zip_elements<S>(exec, scale_formula{factor}, x);
        return zip_elements<S>(exec, affine_formula{factor, bias}, x);
    }
};

/// See scale. The result for a SelectedRows is a SelectedRows, and its bias must be 0.
struct scale_op : detail::declared<scale_op> {
    static constexpr unsigned row_inputs = 0b1;
    static constexpr Linearity linearity(ScaleOptions const& o) {
        return o.bias == 0 ? Linearity::scaled : Linearity::shifted;
    }
    using grad = gradient<scale_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(VarSpec const& x, attributes const& a) {
        if (x.type != VarType::SELECTED_ROWS) return spec::elementwise("scale: x", x);
        if (a.bias != 0) detail::sparse_bias(a.bias);
        return x;
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, attributes const& a) {
        return scale(exec, x, a.factor, a.bias);
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, SelectedRows<T, D> const& x, attributes const& a) {
        if (a.bias != 0) detail::sparse_bias(a.bias);
        detail::check_whole_setting<T>("factor", a.factor);
        if constexpr (std::integral<detail::sum_t<T>>) {
            return scale(exec, x, static_cast<std::int64_t>(a.factor));
        } else {
            return scale(exec, x, a.factor);
        }
    }

    /// factor · out_grad
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& out_grad, attributes const& a) {
        return scale_op::run(exec, out_grad, {a.factor, 0});
    }
    template <class T, class D>
    static SelectedRows<T, D> backward(D exec, SelectedRows<T, D> const& out_grad, attributes const& a) {
        return scale_op::run(exec, out_grad, {a.factor, 0});
    }
};

}  // namespace rowan::inline v0
