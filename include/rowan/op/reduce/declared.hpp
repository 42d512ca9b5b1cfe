// rowan/op/reduce/declared.hpp: reductions, running sums, sorting and top_k: names, slots and options, without what computes.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/op/operator_of.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The axis of argmax and argmin.
struct ArgmaxOptions {
    std::int64_t axis = -1;  ///< negative values count from the end
    bool keep_dims = false;  ///< whether the result has a dim of 1 for the axis
    ROWAN_OPTIONS(ArgmaxOptions, axis, keep_dims)
};

/// The settings of argsort.
struct ArgsortOptions {
    std::int64_t axis = -1;   ///< negative values count from the end
    bool descending = false;  ///< whether the greatest element comes first
    ROWAN_OPTIONS(ArgsortOptions, axis, descending)
};

/// The settings of cumprod.
struct CumprodOptions {
    std::int64_t axis = -1;  ///< negative values count from the end
    bool exclusive = false;  ///< whether the element itself is left out of its product
    bool reverse = false;    ///< whether to multiply from the end
    ROWAN_OPTIONS(CumprodOptions, axis, exclusive, reverse)
};

/// The settings of cumsum.
struct CumsumOptions {
    std::int64_t axis = -1;  ///< negative values count from the end
    bool exclusive = false;  ///< whether the element itself is left out of its sum
    bool reverse = false;    ///< whether to sum from the end
    ROWAN_OPTIONS(CumsumOptions, axis, exclusive, reverse)
};

/// The axes of a reduction.
struct ReduceOptions {
    std::vector<std::int64_t> axes{};  ///< in any order; -1 is the last one; empty: all axes
    bool keep_dims = false;            ///< whether the result has dims of 1 for these axes
    ROWAN_OPTIONS(ReduceOptions, axes, keep_dims)
};

/// The settings of top_k.
struct TopKOptions {
    std::int64_t k = 1;  ///< the number of elements of each row
    ROWAN_OPTIONS(TopKOptions, k)
};

struct argmax_op;
struct argmin_op;
struct argsort_op;
struct cumprod_op;
struct cumsum_op;
struct reduce_max_op;
struct reduce_mean_op;
struct reduce_min_op;
struct reduce_prod_op;
struct reduce_sum_op;
struct top_k_op;

namespace detail {

template <>
struct declared<argmax_op> : builtin_op<argmax_op, slots<slot::x>, slots<slot::out>, ArgmaxOptions> {
    using result = std::int64_t;
    static constexpr std::string_view name = "argmax", brief = "The positions of the greatest elements along an axis.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<argmin_op> : builtin_op<argmin_op, slots<slot::x>, slots<slot::out>, ArgmaxOptions> {
    using result = std::int64_t;
    static constexpr std::string_view name = "argmin", brief = "The positions of the smallest elements along an axis.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<argsort_op> : builtin_op<argsort_op, slots<slot::x>, slots<slot::out>, ArgsortOptions> {
    using result = std::int64_t;
    static constexpr std::string_view name = "argsort";
    static constexpr std::string_view brief =
        "The positions along an axis in the order of their elements; equal ones keep their order, NaN is the greatest.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<cumprod_op> : builtin_op<cumprod_op, slots<slot::x>, slots<slot::out>, CumprodOptions> {
    static constexpr std::string_view name = "cumprod", brief = "Running products along an axis.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<cumsum_op> : builtin_op<cumsum_op, slots<slot::x>, slots<slot::out>, CumsumOptions> {
    static constexpr std::string_view name = "cumsum", brief = "Running sums along an axis.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<top_k_op> : builtin_op<top_k_op, slots<slot::x>, slots<slot::out, slot::ids>, TopKOptions> {
    static constexpr std::string_view name = "top_k";
    static constexpr std::string_view brief =
        "The k greatest elements of rows, in descending order, and their positions.";
};

template <>
struct declared<reduce_mean_op> : builtin_op<reduce_mean_op, slots<slot::x>, slots<slot::out>, ReduceOptions> {
    static constexpr std::string_view name = "reduce_mean";
    static constexpr std::string_view brief =
        "The means of the elements along these axes, by default along all of them.";
    static constexpr Elements elements = Elements::floats;
};

template <>
struct declared<reduce_sum_op> : builtin_op<reduce_sum_op, slots<slot::x>, slots<slot::out>, ReduceOptions> {
    static constexpr std::string_view name = "reduce_sum";
    static constexpr std::string_view brief =
        "The sums of the elements along these axes, by default along all of them.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<reduce_prod_op> : builtin_op<reduce_prod_op, slots<slot::x>, slots<slot::out>, ReduceOptions> {
    static constexpr std::string_view name = "reduce_prod";
    static constexpr std::string_view brief =
        "The products of the elements along these axes, by default along all of them.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<reduce_max_op> : builtin_op<reduce_max_op, slots<slot::x>, slots<slot::out>, ReduceOptions> {
    static constexpr std::string_view name = "reduce_max";
    static constexpr std::string_view brief = "The greatest elements along some axes, by default of all.";
    static constexpr Elements elements = Elements::numbers;
};

template <>
struct declared<reduce_min_op> : builtin_op<reduce_min_op, slots<slot::x>, slots<slot::out>, ReduceOptions> {
    static constexpr std::string_view name = "reduce_min";
    static constexpr std::string_view brief = "The smallest elements along some axes, by default of all.";
    static constexpr Elements elements = Elements::numbers;
};

}  // namespace detail

}  // namespace rowan::inline v0
