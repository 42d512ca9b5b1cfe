// rowan/op/table/declared.hpp: lookups in tables: names, slots and options, without what computes.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/detail/pooling.hpp>
#include <rowan/op/operator_of.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The settings of embedding_bag.
struct BagOptions {
    /// sum, mean, sqrt (divides by the root of the number of ids, or of the sum of the squared weights) or max
    Pooling pool = Pooling::sum;
    /// Ids that are left out of their bags: they do not count, and their table row gets no gradient.
    std::optional<std::int64_t> padding_id = {};
    /// Ids that the table does not have read this row, which gets their gradients; without it they are errors. If it is
    /// the padding id, they are left out.
    std::optional<std::int64_t> unknown = {};
    ROWAN_OPTIONS(BagOptions, pool, padding_id, unknown)
};

/// The settings of embedding_bags.
struct BagsOptions {
    Pooling pool = Pooling::sum;  ///< sum, mean, sqrt or max
    ROWAN_OPTIONS(BagsOptions, pool)
};

/// The settings of hash_rows in nets.
struct HashRowsOptions {
    /// the height of the table; of several, the ids are the bags of all, as for embedding_bags
    std::vector<std::int64_t> heights = {};
    std::int64_t seed = 0;  ///< another one gives other collisions
    ROWAN_OPTIONS(HashRowsOptions, heights, seed)
};

/// The settings of lookup_table.
struct LookupOptions {
    /// Rows for this id are zeros, and its table row gets no gradient.
    std::optional<std::int64_t> padding_id = {};
    /// Ids that the table does not have read this row, which gets their gradients; without it they are errors. If it is
    /// the padding id, they are padding.
    std::optional<std::int64_t> unknown = {};
    ROWAN_OPTIONS(LookupOptions, padding_id, unknown)
};

struct embedding_bag_op;
struct embedding_bags_op;
struct weighted_embedding_bags_op;
struct hash_rows_op;
struct lookup_table_op;
struct to_dense_op;
struct weighted_embedding_bag_op;

namespace detail {

template <>
struct declared<embedding_bag_op>
    : builtin_op<embedding_bag_op, slots<slot::w, slot::ids>, slots<slot::out>, BagOptions> {
    static constexpr std::string_view name = "embedding_bag";
    static constexpr std::string_view brief =
        "A row for each sequence of ids: the sum, mean, … of their rows of the table.";
    static constexpr bool reads_stores = true;
};

template <>
struct declared<embedding_bags_op>
    : builtin_op<embedding_bags_op, slots<slot::w, slot::ids>, slots<slot::out>, BagsOptions> {
    static constexpr std::string_view name = "embedding_bags";
    static constexpr std::string_view brief =
        "embedding_bag of several tables, side by side; first the bags of the first table, and -1 is no id.";
};

template <>
struct declared<weighted_embedding_bags_op>
    : builtin_op<weighted_embedding_bags_op, slots<slot::w, slot::ids, slot::weight>, slots<slot::out>, BagsOptions> {
    static constexpr std::string_view name = "weighted_embedding_bags";
    static constexpr std::string_view brief = "embedding_bags with a weight for each id.";
};

template <>
struct declared<hash_rows_op> : builtin_op<hash_rows_op, slots<slot::ids>, slots<slot::out>, HashRowsOptions> {
    using result = std::int64_t;
    static constexpr std::string_view name = "hash_rows";
    static constexpr std::string_view brief = "The rows of keys in tables of these heights, by hashes.";
    static constexpr Elements elements = Elements::integers;
};

template <>
struct declared<lookup_table_op>
    : builtin_op<lookup_table_op, slots<slot::w, slot::ids>, slots<slot::out>, LookupOptions> {
    static constexpr std::string_view name = "lookup_table";
    static constexpr std::string_view brief = "A row of the table for each id; its gradient is row-sparse.";
    static constexpr bool reads_stores = true;
};

template <>
struct declared<to_dense_op> : builtin_op<to_dense_op, slots<slot::x>, slots<slot::out>> {
    static constexpr std::string_view name = "to_dense", brief = "The dense tensor of a SelectedRows.";
};

template <>
struct declared<weighted_embedding_bag_op>
    : builtin_op<weighted_embedding_bag_op, slots<slot::w, slot::ids, slot::weight>, slots<slot::out>, BagOptions> {
    static constexpr std::string_view name = "weighted_embedding_bag";
    static constexpr std::string_view brief = "embedding_bag with a weight for each id.";
    static constexpr bool reads_stores = true;
};

}  // namespace detail

}  // namespace rowan::inline v0
