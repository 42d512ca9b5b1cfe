// rowan/sparse/row_store_inl.hpp: definitions of rowan/sparse/row_store.hpp.
#pragma once

#include <rowan/sparse/row_store.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::shared_ptr<RowSource const> rows_in_memory(std::size_t bytes,
                                                                      Tensor<std::uint8_t> const& rows) {
    if (rows.dimension() != 2 || rows.shape()[1] != bytes)
        throw ShapeError("rows.shape()", shape_text(rows.shape()), "[height, " + std::to_string(bytes) + "]");
    auto const shared = std::make_shared<Tensor<std::uint8_t> const>(rows.share());
    return std::make_shared<MemoryRows const>(height_of(rows), bytes,
                                              reinterpret_cast<std::byte const*>(shared->data()), shared);
}

ROWAN_CALLED_FUNCTION Tensor<std::uint8_t> bytes_of_rows(std::shared_ptr<RowSource const> const& source) {
    if (source->data() == nullptr && source->height() != 0) throw Error("the rows of the store are not in memory");
    auto* const data = const_cast<std::byte*>(source->data());
    return Tensor<std::uint8_t>::borrow(reinterpret_cast<std::uint8_t*>(data),
                                        {static_cast<std::size_t>(source->height()), source->row_bytes()}, source);
}

}  // namespace rowan::inline v0::detail

#endif
