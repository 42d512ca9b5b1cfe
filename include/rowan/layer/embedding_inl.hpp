// rowan/layer/embedding_inl.hpp: definitions of rowan/layer/embedding.hpp.
#pragma once

#include <rowan/layer/embedding.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <cstdint>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE Dims table_dims(layer::EmbeddingOptions const& options) {
    auto const check = [](char const* field, std::int64_t size, char const* expected) {
        if (size == UNK) throw ShapeError(field, "not given", expected);
    };
    check("layer::embedding: height", options.height, "the number of rows");
    check("layer::embedding: width", options.width, "the number of elements per row");
    return {options.height, options.width};
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Variable& new_named_table(layer::EmbeddingOptions const& options, VarSpec spec,
                                                           bool on_host) {
    if (options.width == UNK)
        throw ShapeError("layer::embedding: width", "not given", "the number of elements per row");
    if (options.height != UNK || options.rows || options.sharded || options.unknown || options.padding_id)
        throw GraphError(
            "layer::embedding: a table by keys has neither .height nor .rows, .sharded, .unknown or .padding_id");
    if (!on_host) throw GraphError("layer::embedding: a table by keys lies in the memory of the CPU");
    check_parameter_name(options.name);
    Variable& table = outermost_scope().new_var(options.name, spec, Role::parameter);
    table.table_makers = options.kind.makers();
    return table;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Variable& ids_in(Variable const& table, Variable& ids) {
    if (table.table_makers == nullptr) return ids;
    if (ids.role() != Role::data)
        throw GraphError("layer::embedding: keys are layer::data: a net cannot compute them");
    Variable& places = outermost_scope().new_var("", ids.spec(), Role::places);
    places.names = {&ids, &table};
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
