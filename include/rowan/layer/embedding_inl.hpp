// rowan/layer/embedding_inl.hpp: definitions of rowan/layer/embedding.hpp.
#pragma once

#include <rowan/layer/embedding.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/any_table.hpp>
#include <rowan/op/detail/dtype_text.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE Dims table_dims(layer::EmbeddingOptions const& options) {
    auto const check = [](char const* field, std::int64_t size, char const* expected) {
        if (size == UNK) throw ShapeError(field, "not given", expected);
    };
    check("layer::embedding: height", options.height, "the number of rows");
    check("layer::embedding: width", options.width, "the number of elements per row");
    return {options.height, options.width};
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Variable& new_table_of_kind(layer::EmbeddingOptions const& options, std::int32_t wire,
                                                             bool on_host) {
    auto kind = options.kind.maker()->with(options.table);
    if (!on_host) throw GraphError("layer::embedding: a table by keys or in a file is for nets on the host");
    if (options.rows || options.sharded)
        throw GraphError("layer::embedding: a table by keys or in a file has neither .rows nor .sharded");
    if (options.width == UNK)
        throw ShapeError("layer::embedding: width", "not given", "the number of elements per row");
    if (kind->by_keys && (options.height != UNK || options.unknown || options.padding_id))
        throw GraphError("layer::embedding: a table by keys has no .height, .unknown or .padding_id");
    Dims const dims = kind->by_keys ? Dims{UNK, options.width} : table_dims(options);
    check_parameter_name(options.name);
    Variable& table = outermost_scope().new_var(
        options.name, {.type = VarType::LOD_TENSOR, .dtype = wire, .dims = dims}, Role::parameter);
    new_role(table).kind = std::move(kind);
    return table;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_lookup(Variable const& table, bool given) {
    if (given && role_of(table).kind != nullptr && role_of(table).kind->by_keys)
        throw GraphError("layer::embedding: a table by keys has no .height, .unknown or .padding_id");
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Variable& ids_in(std::vector<Variable*> const& tables, Variable& ids) {
    bool const strings = ids.spec().type == VarType::STRINGS;
    std::size_t by_keys = 0;
    for (Variable const* const v : tables) by_keys += role_of(*v).kind != nullptr && role_of(*v).kind->by_keys;
    if (by_keys == 0) {
        if (strings) throw GraphError("layer::embedding: strings are keys: give .kind = layer::Keyed{}");
        return ids;
    }
    if (by_keys != tables.size())
        throw GraphError("layer::embedding_bags: some tables are by keys, and others are not");
    Scope& scope = outermost_scope();
    if (ids.role() != Role::data || &ids.scope() != &scope)
        throw GraphError(
            "layer::embedding: keys are layer::data, whose rows are found before the net runs: look them "
            "up outside of recurrent layers and branches");
    if (!strings && ids.spec().dtype != dtype<std::int64_t>::wire)
        throw TypeError("layer::embedding: the keys", dtype_text(ids.spec().dtype), "i64 or strings");
    for (Variable* const table : tables) {
        auto const& kind = role_of(*table).keys;
        if (kind && *kind != ids.spec().type)
            throw GraphError({"layer::embedding: the keys of a table are integers or strings, and those of ",
                              ids.name(), " are others than its first ones"});
    }
    for (auto const& v : scope.variables()) {
        if (v->role() == Role::places && role_of(*v).data == &ids && role_of(*v).tables == tables) return *v;
    }
    Variable& places =
        scope.new_var("", tensor_spec<std::int64_t>(ids.spec().dims, ids.spec().lod_level), Role::places);
    new_role(places).data = &ids;
    new_role(places).tables = tables;
    for (Variable* const table : tables) new_role(*table).keys = ids.spec().type;
    return places;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE int table_pieces(layer::EmbeddingOptions const& options) {
    int const pieces = options.placement.columns;
    options.placement.check();
    if (std::int64_t const width = table_dims(options)[1]; width % pieces != 0)
        throw ShapeError("placement.columns", pieces, {"a divisor of the width, ", width});
    return pieces;
}

}  // namespace rowan::inline v0::detail

#endif
