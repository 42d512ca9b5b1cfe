// rowan/op/matrix/declared.hpp: products of matrices and rows: names, slots and options, without what computes.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/op/operator_of.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// The settings of cosine_similarity.
struct CosineOptions {
    double epsilon = 1e-8;  ///< norms below it count as it, above 0
    ROWAN_OPTIONS(CosineOptions, epsilon)
};

/// The settings of dot_interaction.
struct DotInteractionOptions {
    bool self_interaction = false;  ///< whether there are also the products of the vectors with themselves
    ROWAN_OPTIONS(DotInteractionOptions, self_interaction)
};

/// Which operands are transposed.
struct MatmulOptions {
    bool transpose_x = false;  ///< whether the matrices of x are transposed
    bool transpose_y = false;  ///< whether those of y are
    ROWAN_OPTIONS(MatmulOptions, transpose_x, transpose_y)
};

struct cosine_similarity_op;
struct dot_interaction_op;
struct fc_op;
struct matmul_op;
struct row_dot_op;

namespace detail {

template <>
struct declared<cosine_similarity_op>
    : builtin_op<cosine_similarity_op, slots<slot::x, slot::y>, slots<slot::out>, CosineOptions> {
    static constexpr std::string_view name = "cosine_similarity", brief = "The cosines of rows.";
};

template <>
struct declared<dot_interaction_op>
    : builtin_op<dot_interaction_op, slots<slot::x>, slots<slot::out>, DotInteractionOptions> {
    static constexpr std::string_view name = "dot_interaction";
    static constexpr std::string_view brief = "The dot products of the pairs of vectors of each example.";
};

template <>
struct declared<fc_op> : builtin_op<fc_op, slots<slot::x, slot::w, slot::b>, slots<slot::out>> {
    static constexpr std::string_view name = "fc";
    static constexpr std::string_view brief =
        "input · W + b; output_size is by default the width of the input. bias may be its first values, or False.";
};

template <>
struct declared<matmul_op> : builtin_op<matmul_op, slots<slot::x, slot::y>, slots<slot::out>, MatmulOptions> {
    static constexpr std::string_view name = "matmul", brief = "Products of matrices, or of batches of them.";
};

template <>
struct declared<row_dot_op> : builtin_op<row_dot_op, slots<slot::x, slot::y>, slots<slot::out>> {
    static constexpr std::string_view name = "row_dot", brief = "The dot products of rows.";
};

}  // namespace detail

}  // namespace rowan::inline v0
