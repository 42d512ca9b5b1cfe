// rowan/op/elementwise/compare.hpp: element-wise comparisons and tests, and logical operators on bool tensors.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/broadcast.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/detail/unary.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>

namespace rowan::inline v0 {

namespace detail {

/// Whether x and y compare as Op tells.
template <class Op>
struct Comparison {
    ROWAN_FORMULA auto operator()(V const& x, V const& y) const { return Op::holds(x, y); }
};

/// Whether x is as Op tells.
template <class Op>
struct Test {
    ROWAN_FORMULA auto operator()(V const& x) const { return Op::holds(x); }
};

/// Computes on a device whether any element is true. The Thrust specialization is in rowan/thrust/op/compare.hpp.
template <class D>
struct AnyElement {
    static_assert(has_backend<D>, "rowan: any on a Thrust device needs #include <rowan/thrust/op/compare.hpp>");
};

template <>
struct AnyElement<Cpu> {
    static void any(Cpu, std::size_t n, bool const* x, bool* out) {
        *out = std::any_of(x, x + n, [](bool b) { return b; });
    }
};

/// Base of the binary operators that return a bool tensor.
template <class Op>
struct compare_op : declared<Op> {
    static constexpr unsigned row_inputs = 0b11;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        VarSpec out = broadcast_spec(joined_name<Op, y_suffix>::value.data(), x, y, -1);
        out.dtype = dtype<bool>::wire;
        return out;
    }

    template <class T, class D>
    static Tensor<bool, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return zip_broadcast_to<bool>(exec, Comparison<Op>{}, x, y);
    }
};

/// Base of the operators of one tensor that return a bool tensor.
template <class Op>
struct test_op : declared<Op> {
    static constexpr unsigned row_inputs = 0b1;

    static constexpr VarSpec infer(VarSpec const& x) {
        VarSpec out = spec::elementwise(joined_name<Op, x_suffix>::value.data(), x);
        out.dtype = dtype<bool>::wire;
        return out;
    }

    template <class T, class D>
    static Tensor<bool, D> run(D exec, Tensor<T, D> const& x) {
        return zip_elements_to<bool, sum_t<T>>(exec, Test<Op>{}, x);
    }
};

}  // namespace detail

/// x < y element-wise; false where either is NaN.
/// shapes   x [...], y [...] -> [...], broadcast by NumPy's rules
/// errors   ShapeError if the shapes do not broadcast
struct less_op : detail::compare_op<less_op> {
    ROWAN_FORMULA static auto holds(V const& a, V const& b) { return a < b; }
};

/// x <= y element-wise; false where either is NaN. Shapes and errors as less_op.
struct less_equal_op : detail::compare_op<less_equal_op> {
    ROWAN_FORMULA static auto holds(V const& a, V const& b) { return a < b || a == b; }
};

/// x > y element-wise; false where either is NaN. Shapes and errors as less_op.
struct greater_op : detail::compare_op<greater_op> {
    ROWAN_FORMULA static auto holds(V const& a, V const& b) { return less_op::holds(b, a); }
};

/// x >= y element-wise; false where either is NaN. Shapes and errors as less_op.
struct greater_equal_op : detail::compare_op<greater_equal_op> {
    ROWAN_FORMULA static auto holds(V const& a, V const& b) { return less_equal_op::holds(b, a); }
};

/// x == y element-wise; false where either is NaN. Shapes and errors as less_op.
struct equal_op : detail::compare_op<equal_op> {
    ROWAN_FORMULA static auto holds(V const& a, V const& b) { return a == b; }
};

/// x && y element-wise; a nonzero number is true.
struct logical_and_op : detail::compare_op<logical_and_op> {
    ROWAN_FORMULA static auto holds(V const& a, V const& b) {
        return a != detail::constant<V>(0.0) && b != detail::constant<V>(0.0);
    }
};

/// x || y element-wise; a nonzero number is true.
struct logical_or_op : detail::compare_op<logical_or_op> {
    ROWAN_FORMULA static auto holds(V const& a, V const& b) {
        return a != detail::constant<V>(0.0) || b != detail::constant<V>(0.0);
    }
};

/// !x element-wise; a nonzero number is true.
struct logical_not_op : detail::test_op<logical_not_op> {
    ROWAN_FORMULA static auto holds(V const& a) { return a == detail::constant<V>(0.0); }
};

/// Whether elements are neither infinite nor NaN.
/// shapes   x [...] -> [...]
struct isfinite_op : detail::test_op<isfinite_op> {
    /// Whether a is finite: a - a is NaN if not.
    ROWAN_FORMULA static auto holds(V const& a) {
        V const zero = a - a;
        return zero == a - a;
    }
};

/// Whether elements are NaN. Shapes as isfinite_op.
struct isnan_op : detail::test_op<isnan_op> {
    ROWAN_FORMULA static auto holds(V const& a) {
        V const same = a;
        return !(a == same);
    }
};

/// Whether elements are infinity or -infinity. Shapes as isfinite_op.
struct isinf_op : detail::test_op<isinf_op> {
    ROWAN_FORMULA static auto holds(V const& a) { return !isfinite_op::holds(a) && !isnan_op::holds(a); }
};

template <>
struct detail::function_of<isfinite_op> {
    template <class T, class D>
    static Tensor<bool, D> run(D const& exec, Tensor<T, D> const& x) {
        return isfinite_op::run(exec, x);
    }
};

template <>
struct detail::function_of<isnan_op> {
    template <class T, class D>
    static Tensor<bool, D> run(D const& exec, Tensor<T, D> const& x) {
        return isnan_op::run(exec, x);
    }
};

template <>
struct detail::function_of<isinf_op> {
    template <class T, class D>
    static Tensor<bool, D> run(D const& exec, Tensor<T, D> const& x) {
        return isinf_op::run(exec, x);
    }
};

/// Whether any element is true; false if there are none.
/// shapes   x [...] -> [1]
struct any_op : detail::declared<any_op> {
    static constexpr VarSpec infer(VarSpec const& x) {
        spec::dense("any: x", x);
        spec::same_dtype("any: x", x, tensor_spec<bool>({}));
        return tensor_spec<bool>({1});
    }

    template <class D>
    static Tensor<bool, D> run(D exec, Tensor<bool, D> const& x) {
        detail::ElementLoops<D>::check(exec, x);
        auto out = detail::new_tensor<bool>(exec, {1});
        detail::AnyElement<D>::any(exec, x.size(), x.data(), out.data());
        return out;
    }
};

}  // namespace rowan::inline v0
