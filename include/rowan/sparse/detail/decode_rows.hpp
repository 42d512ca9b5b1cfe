// rowan/sparse/detail/decode_rows.hpp: decode_rows, the elements of rows of a RowFormat as floats.
#pragma once

#include <rowan/sparse/row_format.hpp>

#include <cstddef>
#include <span>

namespace rowan::inline v0::detail {

/// Rows to decode, and rows to prefetch meanwhile, by their addresses.
struct EncodedRows {
    RowFormat format;
    std::size_t width, bytes;  // of a row
    std::span<std::byte const*const> rows, next;
};

/// Writes the elements of the rows to consecutive rows of `to`. The format is not RowFormat::elements.
void decode_rows(EncodedRows const& rows, float* to);

}  // namespace rowan::inline v0::detail

#include <rowan/sparse/detail/decode_rows_inl.hpp>
