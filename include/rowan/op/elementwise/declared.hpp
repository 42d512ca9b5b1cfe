// rowan/op/elementwise/declared.hpp: the operators on single elements: names, slots and options, without what computes.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/detail/arithmetic.hpp>
#include <rowan/op/operator_of.hpp>
#include <rowan/op/var_spec.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace rowan::inline v0 {

/// How two shapes are aligned.
struct BroadcastOptions {
    std::int64_t axis = -1;  ///< the dim of x that is the first one of y, as in Paddle; -1: aligned at the last dims
    ROWAN_OPTIONS(BroadcastOptions, axis)
};

/// The settings of clip.
struct ClipOptions {
    double min = -1;  ///< lower bound; -infinity: none
    double max = 1;   ///< upper bound; infinity: none
    ROWAN_OPTIONS(ClipOptions, min, max)
};

/// The settings of dropout in nets.
struct DropoutOptions {
    double probability = 0.5;  ///< of setting an element to 0
    ROWAN_OPTIONS(DropoutOptions, probability)
};

/// The settings of full.
struct ConstantOptions {
    Dims dims = {};    ///< the shape of the result
    double value = 0;  ///< the value of every element
    ROWAN_OPTIONS(ConstantOptions, dims, value)
};

/// The settings of full_like.
struct FullLikeOptions {
    double value = 0;  ///< the value of every element
    ROWAN_OPTIONS(FullLikeOptions, value)
};

/// The settings of gelu.
struct GeluOptions {
    bool approximate = false;  ///< the formula with tanh instead of the normal distribution
    ROWAN_OPTIONS(GeluOptions, approximate)
};

/// The settings of pow.
struct PowOptions {
    double exponent = 1;  ///< any finite number
    ROWAN_OPTIONS(PowOptions, exponent)
};

/// The settings of relu6.
struct Relu6Options {
    double threshold = 6;  ///< the largest result
    ROWAN_OPTIONS(Relu6Options, threshold)
};

/// The settings of leaky_relu.
struct LeakyReluOptions {
    double alpha = 0.01;  ///< slope where x < 0
    ROWAN_OPTIONS(LeakyReluOptions, alpha)
};

/// The settings of thresholded_relu.
struct ThresholdedReluOptions {
    double threshold = 1;  ///< smaller or equal elements become 0
    ROWAN_OPTIONS(ThresholdedReluOptions, threshold)
};

/// The settings of elu.
struct EluOptions {
    double alpha = 1;  ///< minus the limit for x to -infinity
    ROWAN_OPTIONS(EluOptions, alpha)
};

/// The settings of scale.
struct ScaleOptions {
    double factor = 1;  ///< the factor
    double bias = 0;    ///< added after the multiplication
    ROWAN_OPTIONS(ScaleOptions, factor, bias)
};

/// The settings of hard_sigmoid.
struct HardSigmoidOptions {
    double slope = 0.2;   ///< slope between 0 and 1; PyTorch has 1/6
    double offset = 0.5;  ///< result at 0
    ROWAN_OPTIONS(HardSigmoidOptions, slope, offset)
};

/// The settings of swish.
struct SwishOptions {
    double beta = 1;  ///< factor of x in the logistic function
    ROWAN_OPTIONS(SwishOptions, beta)
};

/// The settings of hard_swish.
struct HardSwishOptions {
    double threshold = 6;  ///< upper limit of x + offset
    double scale = 6;      ///< divisor, not 0
    double offset = 3;     ///< added to x
    ROWAN_OPTIONS(HardSwishOptions, threshold, scale, offset)
};

/// The settings of softplus.
struct SoftplusOptions {
    double beta = 1;  ///< sharpness of the bend, above 0
    ROWAN_OPTIONS(SoftplusOptions, beta)
};

/// The settings of stanh.
struct StanhOptions {
    double scale_a = 0.67;    ///< factor of x
    double scale_b = 1.7159;  ///< factor of the result, not 0
    ROWAN_OPTIONS(StanhOptions, scale_a, scale_b)
};

/// The settings of hardtanh.
struct HardtanhOptions {
    double min = 0;   ///< the smallest result
    double max = 24;  ///< the largest result
    ROWAN_OPTIONS(HardtanhOptions, min, max)
};

template <class To>
struct cast_op;
template <class T>
struct full_op;
struct abs_op;
struct add_op;
struct add_to_op;
struct any_op;
struct ceil_op;
struct clip_op;
struct cos_op;
struct div_op;
struct dropout_op;
struct elu_op;
struct equal_op;
struct exp_op;
struct floor_op;
struct full_like_op;
struct gelu_op;
struct greater_equal_op;
struct greater_op;
struct hard_sigmoid_op;
struct hard_swish_op;
struct hardtanh_op;
struct identity_op;
struct isfinite_op;
struct isinf_op;
struct isnan_op;
struct leaky_relu_op;
struct less_equal_op;
struct less_op;
struct log_op;
struct logical_and_op;
struct logical_not_op;
struct logical_or_op;
struct maximum_op;
struct minimum_op;
struct mish_op;
struct mul_op;
struct negate_op;
struct pow_op;
struct relu6_op;
struct relu_op;
struct round_op;
struct rsqrt_op;
struct scale_op;
struct sigmoid_op;
struct sign_op;
struct silu_op;
struct sin_op;
struct softplus_op;
struct softsign_op;
struct sqrt_op;
struct square_op;
struct stanh_op;
struct sub_op;
struct sum_op;
struct swish_op;
struct tanh_op;
struct thresholded_relu_op;
struct where_op;

namespace detail {

constexpr void check_dropout(double probability) {
    if (!(probability >= 0 && probability <= 1)) throw ValueError("probability", probability, "in [0, 1]");
}

template <>
struct declared<add_op> : builtin_op<add_op, slots<slot::x, slot::y>, slots<slot::out>, BroadcastOptions> {
    static constexpr std::string_view name = "add";
    static constexpr std::string_view brief =
        "x + y; shapes are broadcast by NumPy's rules, or with the first dim of y at an axis of x.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<add_to_op> : builtin_op<add_to_op, slots<slot::x, slot::y>, slots<slot::out>, BroadcastOptions> {
    static constexpr Elements elements = Elements::numbers;
    static constexpr std::string_view name = "add_to", brief = "add, of a memory of a recurrent layer and a value.";
};

template <>
struct declared<sub_op> : builtin_op<sub_op, slots<slot::x, slot::y>, slots<slot::out>, BroadcastOptions> {
    static constexpr std::string_view name = "sub";
    static constexpr std::string_view brief =
        "x - y; shapes are broadcast by NumPy's rules, or with the first dim of y at an axis of x.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<mul_op> : builtin_op<mul_op, slots<slot::x, slot::y>, slots<slot::out>, BroadcastOptions> {
    static constexpr std::string_view name = "mul";
    static constexpr std::string_view brief =
        "x · y of elements; shapes are broadcast by NumPy's rules, or with the first dim of y at an axis of x.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<div_op> : builtin_op<div_op, slots<slot::x, slot::y>, slots<slot::out>, BroadcastOptions> {
    static constexpr std::string_view name = "div";
    static constexpr std::string_view brief =
        "x / y; shapes are broadcast by NumPy's rules, or with the first dim of y at an axis of x.";
};

template <>
struct declared<maximum_op> : builtin_op<maximum_op, slots<slot::x, slot::y>, slots<slot::out>, BroadcastOptions> {
    static constexpr std::string_view name = "maximum";
    static constexpr std::string_view brief = "The greater elements; shapes are broadcast as by add.";
};

template <>
struct declared<minimum_op> : builtin_op<minimum_op, slots<slot::x, slot::y>, slots<slot::out>, BroadcastOptions> {
    static constexpr std::string_view name = "minimum";
    static constexpr std::string_view brief = "The smaller elements; shapes are broadcast as by add.";
};

/// Whether dtype<To>::sum is constructible from dtype<From>::sum.
template <class To, class From>
concept castable = std::constructible_from<sum_t<To>, sum_t<From>>;

struct cast_family {
    static constexpr std::string_view name = "cast_";
};
template <class To>
struct declared<cast_op<To>> : builtin_op<cast_op<To>, slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = joined_name<cast_family, dtype<To>>::value;
    static constexpr std::string_view brief = "The elements converted to another type.";
    using result = To;
    static constexpr OpFamily family = OpFamily::cast;
    static constexpr Elements elements = Elements::all;
    static constexpr bool compiled = is_compiled_element<To>;
};

template <>
struct declared<clip_op> : builtin_op<clip_op, slots<slot::x>, slots<slot::out>, ClipOptions> {
    static constexpr std::string_view name = "clip", brief = "x limited to [min, max].";
};

template <>
struct declared<any_op> : builtin_op<any_op, slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = "any", brief = "Whether any element is true.";
    static constexpr Elements elements = Elements::bools;
};

template <>
struct declared<dropout_op>
    : builtin_op<dropout_op, slots<slot::x, slot::seed>, slots<slot::out, slot::saved>, DropoutOptions> {
    static constexpr std::string_view name = "dropout";
    static constexpr std::string_view brief =
        "In train, every element is 0 with this probability, else x / (1 - probability); elsewhere x.";
};

struct full_family {
    static constexpr std::string_view name = "full_";
};
template <class T>
struct declared<full_op<T>> : builtin_op<full_op<T>, slots<>, slots<slot::out>, ConstantOptions> {
    static constexpr std::string_view name = joined_name<full_family, dtype<T>>::value;
    static constexpr std::string_view brief = "An array of these dims, filled with the value.";
    using result = T;
    static constexpr OpFamily family = OpFamily::full;
    static constexpr bool compiled = is_compiled_element<T>;
};

template <>
struct declared<full_like_op> : builtin_op<full_like_op, slots<slot::x>, slots<slot::out>, FullLikeOptions> {
    static constexpr std::string_view name = "full_like", brief = "An array of the shape of x, filled with the value.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<identity_op> : builtin_op<identity_op, slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = "identity", brief = "x itself.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<scale_op> : builtin_op<scale_op, slots<slot::x>, slots<slot::out>, ScaleOptions> {
    static constexpr std::string_view name = "scale", brief = "factor · x + bias.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<negate_op> : builtin_op<negate_op, slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = "negate", brief = "-x.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<sum_op> : builtin_op<sum_op, slots<slot::x>, slots<slot::out>> {
    static constexpr bool takes_list = true;
    static constexpr std::string_view name = "sum", brief = "The sum of tensors of one shape.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<where_op> : builtin_op<where_op, slots<slot::condition, slot::x, slot::y>, slots<slot::out>> {
    static constexpr std::string_view name = "where";
    static constexpr std::string_view brief =
        "The elements of x where the condition is true, else those of y; shapes are broadcast by NumPy's rules. One of "
        "them may be a number.";
    static constexpr Elements elements = Elements::all;
};

/// The operators of two tensors, and of one, that return a tensor of bool.
template <class Op>
struct truth_of_two : builtin_op<Op, slots<slot::x, slot::y>, slots<slot::out>> {
    using result = bool;
    static constexpr Elements elements = Elements::numbers;
};
template <class Op>
struct truth_of_one : builtin_op<Op, slots<slot::x>, slots<slot::out>> {
    using result = bool;
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<less_op> : truth_of_two<less_op> {
    static constexpr std::string_view name = "less", brief = "Whether x < y; shapes are broadcast as by add.";
};

template <>
struct declared<less_equal_op> : truth_of_two<less_equal_op> {
    static constexpr std::string_view name = "less_equal", brief = "Whether x <= y.";
};

template <>
struct declared<greater_op> : truth_of_two<greater_op> {
    static constexpr std::string_view name = "greater", brief = "Whether x > y.";
};

template <>
struct declared<greater_equal_op> : truth_of_two<greater_equal_op> {
    static constexpr std::string_view name = "greater_equal", brief = "Whether x >= y.";
};

template <>
struct declared<equal_op> : truth_of_two<equal_op> {
    static constexpr std::string_view name = "equal", brief = "Whether x == y.";
    static constexpr Elements elements = Elements::all;
};

template <>
struct declared<logical_and_op> : truth_of_two<logical_and_op> {
    static constexpr std::string_view name = "logical_and", brief = "Whether x and y.";
    static constexpr Elements elements = Elements::bools;
};

template <>
struct declared<logical_or_op> : truth_of_two<logical_or_op> {
    static constexpr std::string_view name = "logical_or", brief = "Whether x or y.";
    static constexpr Elements elements = Elements::bools;
};

template <>
struct declared<logical_not_op> : truth_of_one<logical_not_op> {
    static constexpr std::string_view name = "logical_not", brief = "Whether not x.";
    static constexpr Elements elements = Elements::bools;
};

template <>
struct declared<isfinite_op> : truth_of_one<isfinite_op> {
    static constexpr std::string_view name = "isfinite", brief = "Whether elements are neither infinite nor NaN.";
};

template <>
struct declared<isnan_op> : truth_of_one<isnan_op> {
    static constexpr std::string_view name = "isnan", brief = "Whether elements are NaN.";
};

template <>
struct declared<isinf_op> : truth_of_one<isinf_op> {
    static constexpr std::string_view name = "isinf", brief = "Whether elements are infinity or -infinity.";
};

// Formulas of one element.
#define ROWAN_UNARY(f, of, options, text)                                                     \
    template <>                                                                               \
    struct declared<f##_op> : builtin_op<f##_op, slots<slot::x>, slots<slot::out>, options> { \
        static constexpr std::string_view name = #f, brief = text;                            \
        static constexpr Elements elements = Elements::of;                                    \
    };
ROWAN_UNARY(abs, numbers, no_attributes, "|x|.")
ROWAN_UNARY(ceil, numbers, no_attributes, "The smallest integer not below x.")
ROWAN_UNARY(cos, floats, no_attributes, "The cosine.")
ROWAN_UNARY(elu, floats, EluOptions, "x where x > 0, else alpha · (exp(x) - 1).")
ROWAN_UNARY(exp, floats, no_attributes, "exp(x).")
ROWAN_UNARY(floor, numbers, no_attributes, "The greatest integer not above x.")
ROWAN_UNARY(gelu, floats, GeluOptions, "x · Φ(x), or its approximation by tanh.")
ROWAN_UNARY(hard_sigmoid, floats, HardSigmoidOptions, "slope · x + offset, limited to [0, 1].")
ROWAN_UNARY(hard_swish, floats, HardSwishOptions, "x · min(max(x + offset, 0), threshold) / scale.")
ROWAN_UNARY(hardtanh, floats, HardtanhOptions, "x limited to [min, max].")
ROWAN_UNARY(leaky_relu, floats, LeakyReluOptions, "x where x > 0, else alpha · x.")
ROWAN_UNARY(log, floats, no_attributes, "The natural logarithm.")
ROWAN_UNARY(mish, floats, no_attributes, "x · tanh(log(1 + exp(x))).")
ROWAN_UNARY(pow, floats, PowOptions, "x to the power of an exponent.")
ROWAN_UNARY(relu, numbers, no_attributes, "x where x > 0, else 0.")
ROWAN_UNARY(relu6, floats, Relu6Options, "x limited to [0, threshold].")
ROWAN_UNARY(round, numbers, no_attributes, "The nearest integer, of two the even one.")
ROWAN_UNARY(rsqrt, floats, no_attributes, "1 / √x.")
ROWAN_UNARY(sigmoid, floats, no_attributes, "1 / (1 + exp(-x)).")
ROWAN_UNARY(sign, numbers, no_attributes, "-1, 0 or 1, the sign of x.")
ROWAN_UNARY(silu, floats, no_attributes, "x / (1 + exp(-x)).")
ROWAN_UNARY(sin, floats, no_attributes, "The sine.")
ROWAN_UNARY(softplus, floats, SoftplusOptions, "log(1 + exp(beta · x)) / beta.")
ROWAN_UNARY(softsign, floats, no_attributes, "x / (1 + |x|).")
ROWAN_UNARY(sqrt, floats, no_attributes, "The square root.")
ROWAN_UNARY(square, numbers, no_attributes, "x · x.")
ROWAN_UNARY(stanh, floats, StanhOptions, "scale_b · tanh(scale_a · x).")
ROWAN_UNARY(swish, floats, SwishOptions, "x / (1 + exp(-beta · x)).")
ROWAN_UNARY(tanh, floats, no_attributes, "The hyperbolic tangent.")
ROWAN_UNARY(thresholded_relu, floats, ThresholdedReluOptions, "x where x > threshold, else 0.")
#undef ROWAN_UNARY

}  // namespace detail

}  // namespace rowan::inline v0
