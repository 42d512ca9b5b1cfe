// rowan/op/norm/declared.hpp: softmax and the norms: names, slots and options, without what computes.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/op/operator_of.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rowan::inline v0 {

/// The settings of batch_norm.
struct BatchNormAttributes {
    double momentum = 0.9;  ///< the part of the moving mean and variance that a step keeps; PyTorch's is 1 - momentum
    double epsilon = 1e-5;  ///< added to the variance
    ROWAN_OPTIONS(BatchNormAttributes, momentum, epsilon)
};

/// The settings of layer_norm.
struct LayerNormOptions {
    std::int64_t begin_axis = -1;  ///< the first axis that is normalised, Paddle's begin_norm_axis; -1 is the last one
    double epsilon = 1e-5;         ///< added to the variance
    ROWAN_OPTIONS(LayerNormOptions, begin_axis, epsilon)
};

/// The settings of softmax and log_softmax.
struct SoftmaxOptions {
    std::optional<std::int64_t> axis = {};  ///< the axis of the classes, from the end if negative; default the last one
    ROWAN_OPTIONS(SoftmaxOptions, axis)
};

struct batch_norm_op;
struct layer_norm_op;
struct log_softmax_op;
struct softmax_op;

namespace detail {

constexpr void check_norm_epsilon(double epsilon) {
    if (!(epsilon >= 0 && epsilon - epsilon == 0)) throw ValueError("epsilon", epsilon, "0 or more");
}

[[noreturn]] inline void bad_begin_axis(std::int64_t axis, std::size_t rank) {
    throw ValueError("begin_axis", axis, {"in [1, ", rank - 1, "] or [-", rank - 1, ", -1]: axis 0 is that of rows"});
}

/// The first axis that is normalised, as a number from 1 on.
constexpr std::size_t first_normalised(LayerNormOptions const& options, std::size_t rank) {
    check_norm_epsilon(options.epsilon);
    auto const dims = static_cast<std::int64_t>(rank);
    std::int64_t const axis = options.begin_axis < 0 ? options.begin_axis + dims : options.begin_axis;
    if (axis < 1 || axis >= dims) bad_begin_axis(options.begin_axis, rank);
    return static_cast<std::size_t>(axis);
}

/// The shape from an axis on.
template <class Shape>
constexpr Shape shape_from(Shape const& shape, std::size_t axis) {
    Shape tail;
    for (; axis < shape.size(); ++axis) tail.push_back(shape[axis]);
    return tail;
}

constexpr void check_batch_norm(BatchNormAttributes const& options) {
    check_norm_epsilon(options.epsilon);
    if (!(options.momentum >= 0 && options.momentum <= 1)) throw ValueError("momentum", options.momentum, "in [0, 1]");
}

template <>
struct declared<batch_norm_op>
    : builtin_op<batch_norm_op, slots<slot::x, slot::w, slot::b, slot::mean, slot::variance, slot::seed>,
                 slots<slot::out, slot::next_mean, slot::next_variance>, BatchNormAttributes> {
    static constexpr std::string_view name = "batch_norm";
    static constexpr std::string_view brief =
        "Columns with mean 0 and variance 1, by the batch in train and by moving statistics elsewhere.";
};

template <>
struct declared<layer_norm_op>
    : builtin_op<layer_norm_op, slots<slot::x, slot::w, slot::b>, slots<slot::out>, LayerNormOptions> {
    static constexpr std::string_view name = "layer_norm";
    static constexpr std::string_view brief = "Rows with mean 0 and variance 1, with trained scale and shift.";
};

template <>
struct declared<softmax_op> : builtin_op<softmax_op, slots<slot::x>, slots<slot::out>, SoftmaxOptions> {
    static constexpr std::string_view name = "softmax";
    static constexpr std::string_view brief = "exp(x) / the sum of exp of the row, or along an axis.";
};

template <>
struct declared<log_softmax_op> : builtin_op<log_softmax_op, slots<slot::x>, slots<slot::out>, SoftmaxOptions> {
    static constexpr std::string_view name = "log_softmax";
    static constexpr std::string_view brief = "The logarithms of softmax, also where its elements underflow.";
};

}  // namespace detail

}  // namespace rowan::inline v0
