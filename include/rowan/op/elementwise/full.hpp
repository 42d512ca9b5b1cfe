// rowan/op/elementwise/full.hpp: full, a tensor filled with one value.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/detail/joined_name.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/var_spec.hpp>

#include <concepts>

namespace rowan::inline v0 {

namespace detail {

[[noreturn]] inline void unknown_dim(std::size_t i) { throw ShapeError({"dims[", i, "]"}, "UNK", "a count"); }

/// Converts a number to an element.
/// errors   ValueError if elements are integers and cannot represent the value
template <class T>
T as_element(double value) {
    if constexpr (std::integral<sum_t<T>>) {
        using I = std::conditional_t<std::integral<T>, T, sum_t<T>>;
        if (!is_whole<I>(value)) throw ValueError("value", value, {"a whole number that ", dtype<T>::name, " holds"});
    }
    return dtype<T>::narrow(constant<sum_t<T>>(value));
}

}  // namespace detail

template <class T>
struct detail::function_of<full_op<T>> {
    template <class D>
    static Tensor<T, D> run(D const& exec, Dims const& dims, double value) {
        ElementLoops<D>::check(exec);
        typename Tensor<T, D>::shape_type shape;
        for (std::size_t i = 0; i < dims.size(); ++i) {
            if (dims[i] == UNK) unknown_dim(i);
            shape.push_back(static_cast<std::size_t>(dims[i]));
        }
        return Tensor<T, D>::full(exec, shape, as_element<T>(value));
    }
};

/// See full. Without an input to deduce it from, the element type is part of the operator; in files the names are
/// fill_f32 and so on.
template <class T>
struct full_op : detail::declared<full_op<T>> {
    static constexpr VarSpec infer(ConstantOptions const& a) {
        for (std::size_t i = 0; i < a.dims.size(); ++i) {
            if (a.dims[i] == UNK) detail::unknown_dim(i);
        }
        return tensor_spec<T>(a.dims);
    }

    template <class D>
    static Tensor<T, D> run(D exec, ConstantOptions const& a) {
        return full<T>(exec, a.dims, a.value);
    }
};

}  // namespace rowan::inline v0
