// rowan/layer/embedding_bags.hpp: layer::embedding_bags, bags of ids or keys of several trainable tables.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/initializer.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/table/declared.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// The settings of embedding_bags and its tables.
struct EmbeddingBagsOptions {
    std::vector<std::int64_t> heights = {};  ///< number of rows of each table; of tables by keys none
    std::int64_t width = UNK;                ///< number of elements per row of all tables,
    std::vector<std::int64_t> widths = {};   ///< or of each
    Pooling pool = Pooling::sum;             ///< sum, mean, sqrt or max
    /// whether the ids are keys of any number, each of which reads the row that hash_rows gives it; else they are rows,
    /// and -1 is no id
    bool hashed = false;
    std::int64_t seed = 0;                ///< of the hashes
    Initializer table = {-0.1, 0.1};      ///< initial values of the tables
    std::vector<std::string> names = {};  ///< names of the tables
    /// where rows are and what names them: by layer::Keyed{}, there are as many tables as widths or names
    TableKind kind = {};
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// Creates the tables and returns add(ids, tables), with the rows of ids that are keys.
template <class T, class I, class Device, class Add>
layer::Var<T, Device> bags_of_new_tables(layer::Var<I, Device> const& ids, layer::EmbeddingBagsOptions const& options,
                                         Add const& add) {
    bool const keyed = options.kind.maker() != nullptr && options.heights.empty();
    std::size_t const count = keyed ? std::max(options.widths.size(), options.names.size()) : options.heights.size();
    if (options.kind.maker() != nullptr && options.hashed)
        throw GraphError("layer::embedding_bags: give either .hashed or .kind");
    if (keyed && count == 0) throw ShapeError("widths.size()", 0, "at least 1, the number of tables, or names");
    auto const check = [&](char const* field, std::size_t size) {
        if (size != 0 && size != count) throw ShapeError(field, size, {count, ", one for each table"});
    };
    check("widths.size()", options.widths.size());
    check("names.size()", options.names.size());
    LayerRollback added;
    std::vector<layer::Var<T, Device>> tables;
    for (std::size_t t = 0; t < count; ++t)
        tables.push_back(
            layer::embedding_table<T, Device>({.height = keyed ? UNK : options.heights[t],
                                               .width = options.widths.empty() ? options.width : options.widths[t],
                                               .table = options.table,
                                               .name = options.names.empty() ? "" : options.names[t],
                                               .kind = options.kind}));
    auto const read = [&] {
        if constexpr (!std::is_same_v<I, std::string>) {
            if (options.hashed) return add(layer::apply<hash_rows_op>({options.heights, options.seed}, ids), tables);
        }
        return add(ids, tables);
    };
    auto const x = read();
    added.keep();
    return x;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// The pooled rows of several tables side by side, by one operator: TorchRec's EmbeddingBagCollection. The gradients of
/// the tables are row-sparse. Ids are the bags of all tables, those of the first table first, as rowan::join_bags and a
/// KeyedJaggedTensor have them:
///     auto ids = layer::data<std::int64_t>("ids", {UNK}, 1);
///     auto x = layer::embedding_bags(ids, {.heights = {1000, 50}, .width = 16});               // [batch, 32]
///     auto y = layer::embedding_bags(keys, {.widths = {16, 8}, .kind = layer::Keyed{}});       // [batch, 24]
/// shapes   ids [n] with one level, as many bags for each table -> [batch, sum of the widths]
/// errors   ShapeError if there is no table, or ids have not rank 1 and one level; when the net runs, as
///          rowan::embedding_bags
/// cost     as rowan::embedding_bags and rowan::embedding_bags_grad, when the net runs
template <class I, class T, class Device>
Var<T, Device> embedding_bags(Var<I, Device> const& ids, std::vector<Var<T, Device>> const& tables,
                              BagsOptions const& options = {}) {
    using Id = rowan::detail::id_of<I>;
    static_assert(id_type<Id>,
                  "rowan::layer::embedding_bags: ids are integers: declare them with "
                  "layer::data<std::int64_t>(name, {UNK}, 1)");
    std::vector<Variable*> inputs;
    for (auto const& table : tables) inputs.push_back(&*table);
    inputs.push_back(&rowan::detail::ids_in(inputs, *ids));
    return Var<T, Device>(
        *default_scope().new_op<embedding_bags_op, Device, T, Id>(std::move(inputs), options).outputs[0]);
}

/// The pooled rows of several tables, each row multiplied by the weight of its id. The weights have a gradient, too.
/// shapes   ids [n] with one level, weight [n], tables [h, width] -> [batch, sum of the widths]
/// errors   ShapeError as without weights, and if their shape is not that of ids; when the net runs, as
///          rowan::embedding_bags
/// cost     as rowan::embedding_bags and rowan::embedding_bags_grad with weights, when the net runs
template <class I, class T, class Device>
Var<T, Device> embedding_bags(Var<I, Device> const& ids, Var<T, Device> const& weight,
                              std::vector<Var<T, Device>> const& tables, BagsOptions const& options = {}) {
    std::vector<Variable*> inputs;
    for (auto const& table : tables) inputs.push_back(&*table);
    inputs.insert(inputs.end(), {&rowan::detail::ids_in(inputs, *ids), &*weight});
    return Var<T, Device>(
        *default_scope()
             .new_op<weighted_embedding_bags_op, Device, T, rowan::detail::id_of<I>, T>(std::move(inputs), options)
             .outputs[0]);
}

/// Creates the tables, and returns their pooled rows; with options.hashed also the operator that gives keys their rows.
/// shapes   ids [n] with one level, and maybe weight [n] -> [batch, sum of the widths]
/// errors   ShapeError if there is another number of widths or names than of heights; as embedding_table, and as
///          embedding_bags of given tables; then nothing is created
/// cost     one parameter in the net for each table, and as embedding_bags of given tables
template <class T = float, class I, class Device>
Var<T, Device> embedding_bags(Var<I, Device> const& ids, EmbeddingBagsOptions const& options) {
    return rowan::detail::bags_of_new_tables<T>(ids, options, [&](auto const& rows, auto const& tables) {
        return embedding_bags(rows, tables, {options.pool});
    });
}
template <class T = float, class I, class Device>
Var<T, Device> embedding_bags(Var<I, Device> const& ids, Var<T, Device> const& weight,
                              EmbeddingBagsOptions const& options) {
    return rowan::detail::bags_of_new_tables<T>(ids, options, [&](auto const& rows, auto const& tables) {
        return embedding_bags(rows, weight, tables, {options.pool});
    });
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/table/embedding_bags.hpp>
#include <rowan/op/table/hash_rows.hpp>
#endif
