// rowan/sparse/row_format.hpp: RowFormat, how the rows of a RowStore are stored.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rowan::inline v0 {

/// How the elements of a row are stored. D is the width of the rows, q the stored number of an element.
///
/// | format | bytes of a row | an element is |
/// |---|---|---|
/// | elements | those of D elements of the store's type | itself |
/// | float32, float16, bfloat16 | 4 D, 2 D, 2 D | itself |
/// | int8 | D numbers of 0 to 255, then scale and bias as floats | q · scale + bias |
/// | int8_half | D numbers of 0 to 255, then scale and bias as halves | q · scale + bias |
/// | int4 | two numbers of 0 to 15 a byte, the lower half first, then scale and bias as halves | q · scale + bias |
/// | float8_e4m3, float8_e5m2 | D floats of 8 bits, then a scale as float | q · scale |
/// | mxfp8_e4m3, mxfp8_e5m2 | D floats of 8 bits, then a byte e for each 32 of them | q · 2^(e - 127) |
/// | q8_0 | for each 32 elements a scale as half and 32 numbers of -128 to 127; D is a multiple of 32 | q · scale |
///
/// Products and sums are those of floats, each rounded. int8, int8_half and int4 are the rows of FBGEMM and of
/// PyTorch's quantized embedding bags; e4m3 has no infinity, and 0x7F and 0xFF are NaN; e5m2 has the infinities and
/// NaNs of a half; mxfp8 are those of OCP's MX formats, where e = 255 is NaN; q8_0 is that of GGUF.
enum class RowFormat : std::uint8_t {
    elements,
    float32,
    float16,
    bfloat16,
    int8,
    int8_half,
    int4,
    float8_e4m3,
    float8_e5m2,
    mxfp8_e4m3,
    mxfp8_e5m2,
    q8_0,
};

/// The name of a format, such as "int8".
/// errors   ValueError if it is none of RowFormat
/// cost     O(1)
std::string_view format_name(RowFormat format);

/// The format of this name.
/// errors   TypeError if there is none
/// cost     O(1)
RowFormat format_of_name(std::string_view name);

/// The bytes of a row of `width` elements; those of `elements` have `element_size` bytes each.
/// errors   ValueError if it is none of RowFormat; ShapeError if the format has no rows of this width, or they may have
///          more than 2^62 bytes
/// cost     O(1)
std::size_t row_bytes(RowFormat format, std::size_t width, std::size_t element_size = 0);

/// The width of rows of `bytes` bytes. A row of int4 has an even width.
/// errors   ValueError if it is none of RowFormat; ShapeError if the format has no rows of so many bytes
/// cost     O(1)
std::size_t row_width(RowFormat format, std::size_t bytes, std::size_t element_size = 0);

}  // namespace rowan::inline v0

#include <rowan/sparse/row_format_inl.hpp>
