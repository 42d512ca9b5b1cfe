// rowan/sparse/quantize_rows.hpp: quantize_rows and dequantize_rows, tables with rows of few bits.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/detail/encode_row.hpp>
#include <rowan/sparse/row_format.hpp>
#include <rowan/sparse/row_store.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace rowan::inline v0 {

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
    std::size_t const width = table.row_size(), height = table.shape()[0];
    auto const stored = detail::StoredRows::of<T>(format, width);
    auto rows = Tensor<std::uint8_t>::from_shape({height, stored.bytes});
    auto* const to = reinterpret_cast<std::byte*>(rows.data());
    std::atomic<std::size_t> bad{height};
    detail::parallel_work(exec, 8 * table.size(), height, 4096 / (width + 1) + 1,
                          [&](std::size_t row, std::size_t end) {
                              [[maybe_unused]] detail::Buffer<float> floats(width);
                              for (; row < end; ++row) {
                                  T const* const from = table.data() + row * width;
                                  if constexpr (detail::read_from_floats<T>) {
                                      if (format != RowFormat::elements) {
                                          for (std::size_t i = 0; i < width; ++i)
                                              floats[i] = static_cast<float>(dtype<T>::widen(from[i]));
                                          if (detail::encode_row<float>(format, floats, to + row * stored.bytes))
                                              continue;
                                          std::size_t first = bad;
                                          while (row < first && !bad.compare_exchange_weak(first, row)) {
                                          }
                                          return;
                                      }
                                  }
                                  if (width != 0) std::memcpy(to + row * stored.bytes, from, stored.bytes);
                              }
                          });
    if (bad != height)
        throw ValueError("row", bad.load(),
                         "finite numbers with a finite scale in the format " + std::string(format_name(format)));
    return RowStore<T>(format, width, rows);
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
