// rowan/op/compare.hpp: comparisons of two tensors, and what is made of truth values.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/registry.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// Elements are compared as dtype<T>::sum.
template <class T, class F>
Tensor<bool> compare(Cpu exec, Tensor<T> const& x, Tensor<T> const& y, F const& holds) {
    check_same_shape("y", y, x);
    auto out = Tensor<bool>::from_shape(x.shape());
    for_ranges(exec, x.size(), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            out.data()[i] = holds(dtype<T>::widen(x.data()[i]), dtype<T>::widen(y.data()[i]));
    });
    return out;
}

/// What comparisons have in common.
template <class Op>
struct compare_op {
    using inputs = slots<slot::x, slot::y>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b11;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& y) {
        VarSpec out = spec::elementwise("y", y, x);
        out.dtype = dtype<bool>::wire;
        return out;
    }

    template <class T, class D>
    static Tensor<bool, D> run(D exec, Tensor<T, D> const& x, Tensor<T, D> const& y) {
        return compare(exec, x, y, [](auto const& a, auto const& b) { return Op::holds(a, b); });
    }
};

}  // namespace detail

/// x < y, element by element; false beside a NaN.
/// shapes   x [...], y [...] -> [...]
/// errors   ShapeError if the shapes differ
struct less_op : detail::compare_op<less_op> {
    static constexpr std::string_view name = "less";
    static bool holds(auto const& a, auto const& b) { return a < b; }
};

/// x <= y, likewise.
struct less_equal_op : detail::compare_op<less_equal_op> {
    static constexpr std::string_view name = "less_equal";
    static bool holds(auto const& a, auto const& b) { return a < b || a == b; }
};

/// x == y, likewise.
struct equal_op : detail::compare_op<equal_op> {
    static constexpr std::string_view name = "equal";
    static bool holds(auto const& a, auto const& b) { return a == b; }
};

/// Are both true? Of truth values.
struct logical_and_op : detail::compare_op<logical_and_op> {
    static constexpr std::string_view name = "logical_and";
    static bool holds(auto const& a, auto const& b) { return a != 0 && b != 0; }
};

/// Is one of both true?
struct logical_or_op : detail::compare_op<logical_or_op> {
    static constexpr std::string_view name = "logical_or";
    static bool holds(auto const& a, auto const& b) { return a != 0 || b != 0; }
};

/// Is it false?
struct logical_not_op {
    static constexpr std::string_view name = "logical_not";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x) { return spec::elementwise("logical_not: x", x); }

    template <class D>
    static Tensor<bool, D> run(D, Tensor<bool, D> const& x) {
        auto out = Tensor<bool, D>::from_shape(x.shape());
        std::transform(x.data(), x.data() + x.size(), out.data(), [](bool b) { return !b; });
        return out;
    }
};

/// Is any element true? Of none, none is.
/// shapes   x [...] -> [1]
struct any_op {
    static constexpr std::string_view name = "any";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = no_grad;

    static constexpr VarSpec infer(VarSpec const& x) {
        spec::dense("any: x", x);
        spec::same_dtype("any: x", x, tensor_spec<bool>({}));
        return tensor_spec<bool>({1});
    }

    template <class D>
    static Tensor<bool, D> run(D, Tensor<bool, D> const& x) {
        return Tensor<bool, D>::full({1}, std::any_of(x.data(), x.data() + x.size(), [](bool b) { return b; }));
    }
};

}  // namespace rowan::inline v0
