// rowan/sparse/row_format_inl.hpp: definitions of rowan/sparse/row_format.hpp.
#pragma once

#include <rowan/sparse/row_format.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <string_view>

namespace rowan::inline v0 {

namespace detail {

/// A row has `head` bytes, and for every `block` elements, or a part of them, `bytes` bytes.
struct RowLayout {
    std::string_view name;
    std::size_t block, bytes, head;
    bool whole_blocks = false;
};

inline constexpr std::array row_layouts{
    RowLayout{"elements", 1, 0, 0},     RowLayout{"float32", 1, 4, 0},      RowLayout{"float16", 1, 2, 0},
    RowLayout{"bfloat16", 1, 2, 0},     RowLayout{"int8", 1, 1, 8},         RowLayout{"int8_half", 1, 1, 4},
    RowLayout{"int4", 2, 1, 4},         RowLayout{"float8_e4m3", 1, 1, 4},  RowLayout{"float8_e5m2", 1, 1, 4},
    RowLayout{"mxfp8_e4m3", 32, 33, 0}, RowLayout{"mxfp8_e5m2", 32, 33, 0}, RowLayout{"q8_0", 32, 34, 0, true},
};

ROWAN_FUNCTION ROWAN_RARE RowLayout row_layout(RowFormat format, std::size_t element_size) {
    auto const i = static_cast<std::size_t>(format);
    if (i >= row_layouts.size()) throw ValueError("format", static_cast<int>(format), "a RowFormat");
    RowLayout layout = row_layouts[i];
    if (format == RowFormat::elements) layout.bytes = element_size;
    return layout;
}

}  // namespace detail

ROWAN_FUNCTION ROWAN_RARE std::string_view format_name(RowFormat format) { return detail::row_layout(format, 0).name; }

ROWAN_FUNCTION ROWAN_RARE RowFormat format_of_name(std::string_view name) {
    for (std::size_t i = 0; i < detail::row_layouts.size(); ++i) {
        if (detail::row_layouts[i].name == name) return static_cast<RowFormat>(i);
    }
    throw TypeError("format", name, "the name of a RowFormat");
}

ROWAN_FUNCTION ROWAN_RARE std::size_t row_bytes(RowFormat format, std::size_t width, std::size_t element_size) {
    auto const layout = detail::row_layout(format, element_size);
    if (layout.whole_blocks && width % layout.block != 0)
        throw ShapeError("width", width, {"a multiple of ", layout.block});
    if (layout.bytes != 0 && width > (std::size_t{1} << 62) / layout.bytes)
        throw ShapeError("width", width, "rows of at most 2^62 bytes");
    std::size_t const blocks = width / layout.block, rest = width % layout.block;
    // A part of a block of MX has its elements and the byte of its scale.
    std::size_t const part = rest == 0 ? 0 : layout.block == 32 ? rest + 1 : layout.bytes;
    return layout.head + blocks * layout.bytes + part;
}

ROWAN_FUNCTION ROWAN_RARE std::size_t row_width(RowFormat format, std::size_t bytes, std::size_t element_size) {
    auto const layout = detail::row_layout(format, element_size);
    std::size_t width = 0;
    if (bytes >= layout.head && layout.bytes != 0) {
        std::size_t const rest = bytes - layout.head, part = rest % layout.bytes;
        width = rest / layout.bytes * layout.block + (part == 0 ? 0 : part - 1);
    }
    if (layout.bytes == 0 || row_bytes(format, layout.whole_blocks ? width / 32 * 32 : width, element_size) != bytes)
        throw ShapeError("bytes of a row", bytes, {"a row of ", layout.name});
    return width;
}

}  // namespace rowan::inline v0

#endif
