// rowan/op/infer.hpp: checks of the inputs in an operator's infer, at compile time and at run time.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/op/var_spec.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

/// Checks that an operator's `infer` makes on its inputs. A check that fails at compile time is an error that names one
/// of the functions below that throw.
namespace rowan::inline v0::spec {

// The functions that throw are not constexpr, so the compile error names them.

/// Throws a TypeError.
[[noreturn]] inline void the_kinds_do_not_match(char const* field, VarType, char const* expected) {
    throw TypeError(field, "another kind of variable", expected);
}

/// Throws a TypeError.
[[noreturn]] inline void the_element_types_do_not_match(char const* field, std::int32_t actual, std::int32_t expected) {
    throw TypeError({field, " dtype"}, detail::dtype_text(actual), detail::dtype_text(expected));
}

/// Throws a ShapeError.
[[noreturn]] inline void the_rank_does_not_fit(char const* field, std::size_t actual, char const* expected) {
    throw ShapeError({field, " rank"}, actual, expected);
}

/// Throws a ShapeError.
[[noreturn]] inline void the_dims_do_not_match(char const* field, std::int64_t actual, std::int64_t expected) {
    throw ShapeError(field, actual, expected);
}
/// Throws a ShapeError.
[[noreturn]] inline void the_dims_do_not_match(char const* field, std::size_t i, std::int64_t actual,
                                               std::int64_t expected) {
    throw ShapeError({field, ".shape(", i, ")"}, actual, expected);
}

/// Throws a ShapeError.
[[noreturn]] inline void the_dim_is_too_great(char const* field, std::int64_t actual, std::int64_t most) {
    throw ShapeError(field, actual, {"at most ", most});
}
/// Throws a ShapeError.
[[noreturn]] inline void the_dim_is_too_great(char const* field, std::size_t i, std::int64_t actual,
                                              std::int64_t most) {
    the_dim_is_too_great((std::string(field) + ".shape(" + std::to_string(i) + ")").c_str(), actual, most);
}

/// Throws a ShapeError.
[[noreturn]] inline void there_are_too_few_levels(char const* field, std::size_t actual) {
    throw ShapeError({field, ".lod().levels()"}, actual, "at least 1");
}

/// Throws a ShapeError.
[[noreturn]] inline void the_levels_do_not_match(char const* field, std::size_t actual, std::size_t expected) {
    throw ShapeError({field, ".lod().levels()"}, actual, expected);
}

/// Throws an IndexError.
[[noreturn]] inline void there_is_no_such_level(char const* field, std::size_t level, std::size_t levels) {
    throw IndexError(field, level, levels);
}

/// Checks that x is a Tensor or LoDTensor, of any element type.
constexpr void dense(char const* field, VarSpec const& x) {
    if (x.type != VarType::LOD_TENSOR) the_kinds_do_not_match(field, x.type, "a tensor");
}

/// Checks that x is a table: a Tensor, a LoDTensor or a SelectedRows.
constexpr void table(char const* field, VarSpec const& x) {
    if (x.type != VarType::SELECTED_ROWS) {
        if (x.type != VarType::LOD_TENSOR) the_kinds_do_not_match(field, x.type, "a tensor or a SelectedRows");
    }
    if (x.dims.empty()) the_rank_does_not_fit(field, 0, "at least 1");
}

/// Checks the rank; `expected` is its text in the error message.
constexpr void rank(char const* field, VarSpec const& x, std::size_t rank, char const* expected) {
    if (x.dims.size() != rank) the_rank_does_not_fit(field, x.dims.size(), expected);
}

/// Checks that x is a Tensor or LoDTensor of rank 2.
constexpr void matrix(char const* field, VarSpec const& x) {
    dense(field, x);
    rank(field, x, 2, "2");
}

/// Checks that x is a Tensor or LoDTensor of rank 2 or more.
constexpr void rows_of_elements(char const* field, VarSpec const& x) {
    dense(field, x);
    if (x.dims.size() < 2) the_rank_does_not_fit(field, x.dims.size(), "at least 2");
}

/// Checks that the rank is at least 1.
constexpr void has_rows(char const* field, VarSpec const& x) {
    if (x.dims.empty()) the_rank_does_not_fit(field, 0, "at least 1");
}

/// Checks that there is at least one level.
constexpr void has_levels(char const* field, VarSpec const& x) {
    if (x.lod_level == 0) there_are_too_few_levels(field, x.lod_level);
}

/// Checks that x has the level; `field` is the name of its number.
constexpr void has_level(char const* field, VarSpec const& x, std::size_t level) {
    if (level >= x.lod_level) there_is_no_such_level(field, level, x.lod_level);
}

/// Checks that x is a Tensor or LoDTensor of rank 1 or more.
constexpr void rows(char const* field, VarSpec const& x) {
    dense(field, x);
    has_rows(field, x);
}

/// Checks that x is a Tensor or LoDTensor with sequences: of rank 1 or more, and with levels.
constexpr void sequences(char const* field, VarSpec const& x) {
    rows(field, x);
    has_levels(field, x);
}

/// Checks that both have the same number of levels.
constexpr void same_levels(char const* field, VarSpec const& x, VarSpec const& like) {
    if (x.lod_level != like.lod_level) the_levels_do_not_match(field, x.lod_level, like.lod_level);
}

/// Checks that both have the same element type.
constexpr void same_dtype(char const* field, VarSpec const& x, VarSpec const& like) {
    if (x.dtype != like.dtype) the_element_types_do_not_match(field, x.dtype, like.dtype);
}

/// Checks that the element type is that of ids: int32 or int64.
constexpr void ids(char const* field, VarSpec const& x) {
    if (x.dtype != rowan::dtype<std::int32_t>::wire) {
        if (x.dtype != rowan::dtype<std::int64_t>::wire)
            the_element_types_do_not_match(field, x.dtype, rowan::dtype<std::int64_t>::wire);
    }
}

/// Checks that x is a list of ids.
constexpr void id_list(char const* field, VarSpec const& x) {
    dense(field, x);
    ids(field, x);
    rank(field, x, 1, "1");
}

/// Checks that two dims agree; UNK agrees with any dim. Returns the known one.
constexpr std::int64_t same_dim(char const* field, std::int64_t actual, std::int64_t expected) {
    if (actual == UNK) return expected;
    if (expected != UNK && actual != expected) the_dims_do_not_match(field, actual, expected);
    return actual;
}

/// Checks that dim i of the field agrees with another dim; UNK agrees with any dim. Returns the known one.
constexpr std::int64_t same_dim(char const* field, std::size_t i, std::int64_t actual, std::int64_t expected) {
    if (actual == UNK) return expected;
    if (expected != UNK && actual != expected) the_dims_do_not_match(field, i, actual, expected);
    return actual;
}

/// Checks that x holds sequences of tokens: ids, with levels and rows of one element. `row_size` is the name of the
/// size of a row.
constexpr void tokens(char const* field, char const* row_size, VarSpec const& x) {
    dense(field, x);
    has_rows(field, x);
    has_levels(field, x);
    ids(field, x);
    same_dim(row_size, x.dims.product_from(1), 1);
}

/// Checks that an id is a row of a table, if both are known.
constexpr void row_of(char const* field, std::optional<std::int64_t> id, VarSpec const& table) {
    if (id && table.dims[0] != UNK && (*id < 0 || *id >= table.dims[0])) throw IndexError(field, *id, table.dims[0]);
}

/// Returns dim * factor, of a factor of 1 or more, which must be less than 2^63; UNK if the dim is UNK.
constexpr std::int64_t times(char const* field, std::int64_t dim, std::int64_t factor) {
    if (dim == UNK) return UNK;
    if (dim > std::numeric_limits<std::int64_t>::max() / factor)
        the_dim_is_too_great(field, dim, std::numeric_limits<std::int64_t>::max() / factor);
    return dim * factor;
}

/// Returns dim i of the field + more, of 0 or more, which must be less than 2^63; UNK if one of them is UNK.
constexpr std::int64_t plus(char const* field, std::size_t i, std::int64_t dim, std::int64_t more) {
    if (dim == UNK || more == UNK) return UNK;
    if (dim > std::numeric_limits<std::int64_t>::max() - more)
        the_dim_is_too_great(field, i, dim, std::numeric_limits<std::int64_t>::max() - more);
    return dim + more;
}

/// Checks that the dims agree, each as same_dim does, and returns the known ones.
constexpr Dims same_dims(char const* field, VarSpec const& x, VarSpec const& like) {
    if (x.dims.size() != like.dims.size()) the_rank_does_not_fit(field, x.dims.size(), "the rank of the other input");
    Dims dims;
    for (std::size_t i = 0; i < x.dims.size(); ++i) dims.push_back(same_dim(field, i, x.dims[i], like.dims[i]));
    return dims;
}

/// Returns the spec of a tensor of other dims with elements like those of x.
constexpr VarSpec with_dims(VarSpec const& x, Dims const& dims, std::size_t lod_level = 0) {
    return {.type = VarType::LOD_TENSOR, .dtype = x.dtype, .dims = dims, .lod_level = lod_level};
}

/// Returns the spec of another number of rows like those of x.
constexpr VarSpec with_rows(VarSpec const& x, std::int64_t n, std::size_t lod_level) {
    Dims dims = x.dims;
    dims[0] = n;
    return with_dims(x, dims, lod_level);
}

/// Returns the spec of an element-wise result: the inputs must be dense and have the same element type and shape.
constexpr VarSpec elementwise(char const* field, VarSpec const& x) {
    dense(field, x);
    return x;
}
constexpr VarSpec elementwise(char const* field, VarSpec const& x, VarSpec const& like) {
    dense(field, x);
    dense(field, like);
    same_dtype(field, x, like);
    return with_dims(like, same_dims(field, x, like), like.lod_level);
}

}  // namespace rowan::inline v0::spec
