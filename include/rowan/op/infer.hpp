// rowan/op/infer.hpp: the questions that an operator's infer asks of its inputs, at compile time and at run time.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/op/var_spec.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

/// What `infer` of an operator asks of its inputs. At compile time what does not hold is an error that names one of these functions.
namespace rowan::inline v0::spec {

// The functions that throw are no constants: at compile time the error names them.

/// Throws a TypeError.
[[noreturn]] inline void the_kinds_do_not_match(char const* field, VarType, char const* expected) {
    throw TypeError(field, "of another kind", expected);
}

/// Throws a TypeError.
[[noreturn]] inline void the_element_types_do_not_match(char const* field, std::int32_t actual, std::int32_t expected) {
    throw TypeError(std::string(field) + " dtype", std::to_string(actual), std::to_string(expected));
}

/// Throws a ShapeError.
[[noreturn]] inline void the_rank_does_not_fit(char const* field, std::size_t actual, char const* expected) {
    throw ShapeError(std::string(field) + " rank", std::to_string(actual), expected);
}

/// Throws a ShapeError.
[[noreturn]] inline void the_dims_do_not_match(char const* field, std::int64_t actual, std::int64_t expected) {
    throw ShapeError(field, std::to_string(actual), std::to_string(expected));
}

/// Throws a ShapeError.
[[noreturn]] inline void there_are_too_few_levels(char const* field, std::size_t actual) {
    throw ShapeError(std::string(field) + ".lod().levels()", std::to_string(actual), "at least 1");
}

/// A Tensor or LoDTensor, of any element type.
constexpr void dense(char const* field, VarSpec const& x) {
    if (x.type != VarType::LOD_TENSOR) the_kinds_do_not_match(field, x.type, "a tensor");
}

/// So many dims; `expected` is what the error says of them.
constexpr void rank(char const* field, VarSpec const& x, std::size_t rank, char const* expected) {
    if (x.dims.size() != rank) the_rank_does_not_fit(field, x.dims.size(), expected);
}

/// A Tensor or LoDTensor of rank 2.
constexpr void matrix(char const* field, VarSpec const& x) {
    dense(field, x);
    rank(field, x, 2, "2");
}

/// Rank 1 or more.
constexpr void has_rows(char const* field, VarSpec const& x) {
    if (x.dims.empty()) the_rank_does_not_fit(field, 0, "at least 1");
}

/// One level or more.
constexpr void has_levels(char const* field, VarSpec const& x) {
    if (x.lod_level == 0) there_are_too_few_levels(field, x.lod_level);
}

/// Two of one element type.
constexpr void same_dtype(char const* field, VarSpec const& x, VarSpec const& like) {
    if (x.dtype != like.dtype) the_element_types_do_not_match(field, x.dtype, like.dtype);
}

/// Row numbers are int32 or int64.
constexpr void ids(char const* field, VarSpec const& x) {
    if (x.dtype != rowan::dtype<std::int32_t>::wire) {
        if (x.dtype != rowan::dtype<std::int64_t>::wire)
            the_element_types_do_not_match(field, x.dtype, rowan::dtype<std::int64_t>::wire);
    }
}

/// Two dims that must agree: the one that is known.
constexpr std::int64_t same_dim(char const* field, std::int64_t actual, std::int64_t expected) {
    if (actual == UNK) return expected;
    if (expected != UNK && actual != expected) the_dims_do_not_match(field, actual, expected);
    return actual;
}

/// Dims that must agree: of each the one that is known.
constexpr Dims same_dims(char const* field, VarSpec const& x, VarSpec const& like) {
    if (x.dims.size() != like.dims.size()) the_rank_does_not_fit(field, x.dims.size(), "that of the other input");
    Dims dims;
    for (std::size_t i = 0; i < x.dims.size(); ++i) dims.push_back(same_dim(field, x.dims[i], like.dims[i]));
    return dims;
}

/// The spec of an element-wise result: that of the inputs, all of one kind, element type and shape.
constexpr VarSpec elementwise(char const* field, VarSpec const& x) {
    dense(field, x);
    return x;
}
constexpr VarSpec elementwise(char const* field, VarSpec const& x, VarSpec const& like) {
    dense(field, x);
    dense(field, like);
    same_dtype(field, x, like);
    return {VarType::LOD_TENSOR, like.dtype, same_dims(field, x, like), like.lod_level};
}

}  // namespace rowan::inline v0::spec
