// rowan/sparse/detail/stored_type_inl.hpp: definitions of rowan/sparse/detail/stored_type.hpp.
#pragma once

#include <rowan/sparse/detail/stored_type.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstddef>
#include <string>

namespace rowan::inline v0::detail {

inline constexpr std::int32_t first_row_type = 256;  // below those of users

ROWAN_FUNCTION ROWAN_RARE bool is_row_type(std::int32_t dtype) {
    return dtype >= first_row_type + static_cast<std::int32_t>(RowFormat::int8) &&
           dtype <= first_row_type + static_cast<std::int32_t>(RowFormat::q8_0);
}

ROWAN_FUNCTION ROWAN_RARE RowFormat format_of_type(std::int32_t dtype) {
    return static_cast<RowFormat>(dtype - first_row_type);
}

ROWAN_FUNCTION ROWAN_RARE StoredType type_of_rows(RowFormat format, std::size_t width, std::int64_t height) {
    return {first_row_type + static_cast<std::int32_t>(format),
            std::string(format_name(format)).append("[").append(std::to_string(width)).append("]"),
            row_bytes(format, width),
            {height}};
}

ROWAN_FUNCTION ROWAN_RARE std::optional<RowShape> shape_of_rows(StoredType const& type) {
    std::size_t const bracket = type.name.find('[');
    if (!is_row_type(type.dtype) || type.dims.size() != 1 || bracket == std::string::npos) return std::nullopt;
    std::size_t width = 0;
    for (std::size_t i = bracket + 1; i + 1 < type.name.size() && width < (std::size_t{1} << 40); ++i)
        width = 10 * width + static_cast<std::size_t>(type.name[i] - '0');
    RowFormat const format = format_of_type(type.dtype);
    if (format == RowFormat::q8_0 && width % 32 != 0) return std::nullopt;
    if (width > (std::size_t{1} << 40)) return std::nullopt;
    StoredType const same = type_of_rows(format, width, type.dims[0]);
    if (same.name != type.name || same.element_size != type.element_size) return std::nullopt;
    return RowShape{format, width};
}

}  // namespace rowan::inline v0::detail

#endif
