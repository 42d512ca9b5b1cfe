// rowan/op/shape/declared.hpp: operators that change shapes: names, slots and options, without what computes.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/op/operator_of.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The settings of concat.
struct ConcatOptions {
    std::int64_t axis = 0;  ///< negative values count from the end
    ROWAN_OPTIONS(ConcatOptions, axis)
};

/// The settings of one_hot.
struct OneHotOptions {
    std::int64_t depth = 0;  ///< the width of the rows
    ROWAN_OPTIONS(OneHotOptions, depth)
};

/// The shape of reshape.
struct ReshapeOptions {
    std::vector<std::int64_t> shape{};  ///< 0: that dim of x; one dim may be -1: what remains
    ROWAN_OPTIONS(ReshapeOptions, shape)
};

/// The axes of squeeze and unsqueeze.
struct SqueezeOptions {
    std::vector<std::int64_t> axes{};  ///< in any order; -1 is the last one
    ROWAN_OPTIONS(SqueezeOptions, axes)
};

/// The settings of split.
struct SplitOptions {
    std::vector<std::int64_t> sections;  ///< the size of each part along the axis
    std::int64_t axis = 0;               ///< negative values count from the end
    ROWAN_OPTIONS(SplitOptions, sections, axis)
};

/// The axis of stack.
struct StackOptions {
    std::int64_t axis = 0;  ///< the new axis; negative values count from the end of the result
    ROWAN_OPTIONS(StackOptions, axis)
};

/// The order of transpose.
struct TransposeOptions {
    std::vector<std::int64_t> perm{};  ///< dim i of the result is dim perm[i] of x; empty: all dims reversed
    ROWAN_OPTIONS(TransposeOptions, perm)
};

struct concat_op;
struct one_hot_op;
struct reshape_op;
struct squeeze_op;
struct unsqueeze_op;
struct shape_op;
struct split_op;
struct stack_op;
struct transpose_op;

namespace detail {

template <>
struct declared<concat_op> : builtin_op<concat_op, slots<slot::x>, slots<slot::out>, ConcatOptions> {
    static constexpr bool takes_list = true;
    static constexpr std::string_view name = "concat";
    static constexpr std::string_view brief =
        "Tensors joined along an axis; along the first one, batches with as many levels are joined.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<one_hot_op> : builtin_op<one_hot_op, slots<slot::ids>, slots<slot::out>, OneHotOptions> {
    using result = float;
    static constexpr std::string_view name = "one_hot", brief = "Rows of zeros with a 1 at the id.";
    static constexpr Elements elements = Elements::integers;
};

template <>
struct declared<reshape_op> : builtin_op<reshape_op, slots<slot::x>, slots<slot::out>, ReshapeOptions> {
    static constexpr std::string_view name = "reshape";
    static constexpr std::string_view brief = "The elements in another shape: -1 is what is left, 0 the dim of x.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr bool list_option = true;  // layers take it by position
};

template <>
struct declared<squeeze_op> : builtin_op<squeeze_op, slots<slot::x>, slots<slot::out>, SqueezeOptions> {
    static constexpr std::string_view name = "squeeze", brief = "x without these dims of 1, or without all dims of 1.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr bool list_option = true;  // layers take it by position
};

template <>
struct declared<unsqueeze_op> : builtin_op<unsqueeze_op, slots<slot::x>, slots<slot::out>, SqueezeOptions> {
    static constexpr std::string_view name = "unsqueeze", brief = "x with dims of 1 at these axes.";
    static constexpr Elements elements = Elements::all;
    static constexpr bool list_option = true;  // layers take it by position
};

template <>
struct declared<shape_op> : builtin_op<shape_op, slots<slot::x>, slots<slot::out>> {
    using result = std::int64_t;
    static constexpr std::string_view name = "shape", brief = "The dims of x when the net runs.";
    static constexpr Elements elements = Elements::all;
};

template <>
struct declared<split_op> : builtin_op<split_op, slots<slot::x>, slots<slot::out>, SplitOptions> {
    static constexpr std::string_view name = "split", brief = "Parts of these sizes along an axis.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<stack_op> : builtin_op<stack_op, slots<slot::x>, slots<slot::out>, StackOptions> {
    static constexpr bool takes_list = true;
    static constexpr std::string_view name = "stack", brief = "Tensors joined along a new axis.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<transpose_op> : builtin_op<transpose_op, slots<slot::x>, slots<slot::out>, TransposeOptions> {
    static constexpr std::string_view name = "transpose", brief = "The dims in another order, by default reversed.";
    static constexpr Elements elements = Elements::numbers;
    static constexpr bool list_option = true;  // layers take it by position
};

}  // namespace detail

}  // namespace rowan::inline v0
