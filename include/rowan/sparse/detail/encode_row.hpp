// rowan/sparse/detail/encode_row.hpp: encode_row, a row of floats in a RowFormat.
#pragma once

#include <rowan/sparse/row_format.hpp>

#include <cstddef>
#include <span>

namespace rowan::inline v0::detail {

/// Writes a row of a format other than RowFormat::elements to `to`, which has row_bytes(format, row.size()) bytes.
/// Returns whether the format has such a row: its numbers are finite, and so is their scale. Otherwise `to` has no
/// meaning.
ROWAN_IF_CALLED bool encode_row(RowFormat format, std::span<float const> row, std::byte* to);

}  // namespace rowan::inline v0::detail

#include <rowan/sparse/detail/encode_row_inl.hpp>
