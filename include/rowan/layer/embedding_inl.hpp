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

ROWAN_CALLED_FUNCTION ROWAN_RARE int table_pieces(layer::EmbeddingOptions const& options) {
    int const pieces = options.placement.columns;
    options.placement.check();
    if (std::int64_t const width = table_dims(options)[1]; width % pieces != 0)
        throw ShapeError("placement.columns", pieces, {"a divisor of the width, ", width});
    return pieces;
}

}  // namespace rowan::inline v0::detail

#endif
