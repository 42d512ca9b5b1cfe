// rowan/sparse/quantize_rows.hpp: quantize_rows and dequantize_rows, tables with rows of few bits.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/sparse/detail/stored_rows.hpp>
#include <rowan/sparse/row_format.hpp>
#include <rowan/sparse/row_store.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0 {

namespace detail {

/// The rows of a table.
struct RowsToEncode {
    void const* data;
    std::size_t height, width, bytes;  // of a row
    /// Writes n elements as floats, if the type can be read from floats.
    void (*widen)(void const* row, std::size_t n, float* to) = nullptr;
};

/// The rows in the format of `stored`.
/// errors   ValueError as quantize_rows
ROWAN_IF_CALLED Tensor<std::uint8_t> encode_rows(Cpu exec, RowsToEncode const& rows, StoredRows const& stored);

}  // namespace detail

/// The rows of a table in a format of few bits, in memory. Numbers are computed as floats; where it rounds:
/// - int8: scale = (max - min) / 255, bias = min, q = (x - min) · (255 / (max - min + 1e-8)), rounded to nearest, ties
///   to even, as FBGEMM does.
/// - int8_half, int4: bias = min and scale = (max - bias) / 255 or 15 as halves, q = (x - bias) / scale by 1 / scale,
///   rounded as before, at most 255 or 15; a scale of 0 becomes 1.
/// - float8: scale = greatest magnitude / 448 (e4m3) or 57344 (e5m2), 1 if all are
///   0, and at least 2^-149; x / scale, to nearest, ties to even.
/// - mxfp8: e = floor(log2(greatest magnitude of 32)) - 8 (e4m3) or 15 (e5m2) + 127, but at least 0; x / 2^(e - 127),
///   to nearest, ties to even, and the largest finite number where it is greater: as OCP's MX formats say.
/// - q8_0: scale = greatest magnitude of 32 / 127, stored as a half, q = x · (1 / scale), ties away from zero, as GGML;
///   0 where 1 / scale is not finite.
/// - float16, bfloat16: to nearest, ties to even.
///
///     RowStore<float> const store = quantize_rows(table, RowFormat::int8);   // 72 bytes a row of 64 numbers, not 256
/// shapes   table [height, ...] -> rows of the elements of a row
/// errors   ShapeError if table has rank 0 or the format has no rows of this width; TypeError if T is an integer type;
///          ValueError if a row has no finite scale: it has an infinity or NaN, except for float16, bfloat16 and
///          float32, or numbers too large for a half, or whose difference is too large for a float
/// cost     one read of the table and one write of the rows; the same bytes for any number of threads
template <class T>
RowStore<T> quantize_rows(Cpu exec, Tensor<T> const& table, RowFormat format) {
    detail::check_rows("table", table);
    std::size_t const width = table.row_size();
    detail::RowsToEncode rows{table.data(), table.shape()[0], width, width * sizeof(T)};
    if constexpr (detail::read_from_floats<T>) {
        rows.widen = [](void const* row, std::size_t n, float* to) {
            for (std::size_t i = 0; i < n; ++i)
                to[i] = static_cast<float>(dtype<T>::widen(static_cast<T const*>(row)[i]));
        };
    }
    return RowStore<T>(format, width, detail::encode_rows(exec, rows, detail::StoredRows::of<T>(format, width)));
}
template <class T>
RowStore<T> quantize_rows(Tensor<T> const& table, RowFormat format) {
    return quantize_rows(Cpu(), table, format);
}

/// All rows of a store, as gather returns them.
/// shapes   [height, width]
/// errors   IoError if a row cannot be read from its file
/// cost     one read of the rows and one write of the result
template <class T>
Tensor<T> dequantize_rows(Cpu exec, RowStore<T> const& store) {
    auto table = Tensor<T>::from_shape({static_cast<std::size_t>(store.height()), store.width()});
    detail::RowStoreAccess::copy_range(exec, store, 0, store.height(), table.data());
    return table;
}
template <class T>
Tensor<T> dequantize_rows(RowStore<T> const& store) {
    return dequantize_rows(Cpu(), store);
}

}  // namespace rowan::inline v0

#include <rowan/sparse/quantize_rows_inl.hpp>
