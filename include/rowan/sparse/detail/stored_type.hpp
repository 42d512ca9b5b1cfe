// rowan/sparse/detail/stored_type.hpp: how files name the element types of rows of a RowFormat.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/sparse/row_format.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// The elements of a table in a file. Rows of few bits are elements of types of their own, such as "int8[64]".
struct StoredType {
    std::int32_t dtype;
    std::string name;
    std::size_t element_size;
    std::vector<std::int64_t> dims;

    template <class E>
    static StoredType of(std::int64_t height, std::size_t width) {
        return {dtype_number<E>(),
                std::string(rowan::dtype<E>::name),
                sizeof(E),
                {height, static_cast<std::int64_t>(width)}};
    }
    template <class E>
    bool is() const {
        return dtype == dtype_number<E>() && name == rowan::dtype<E>::name && element_size == sizeof(E);
    }

private:
    template <class E>
    static std::int32_t dtype_number() {
        return rowan::dtype<E>::wire;
    }
};

/// Whether it is the number of a type of rows of few bits.
bool is_row_type(std::int32_t dtype);
/// The format of its rows.
RowFormat format_of_type(std::int32_t dtype);

/// The type of rows of few bits.
StoredType type_of_rows(RowFormat format, std::size_t width, std::int64_t height);

/// The format and width of rows.
struct RowShape {
    RowFormat format;
    std::size_t width;
};

/// Those of rows of few bits; none if the type is another.
std::optional<RowShape> shape_of_rows(StoredType const& type);

/// The type of rows that are read as T.
template <class T>
StoredType stored_type(RowFormat format, std::size_t width, std::int64_t height) {
    switch (format) {
        case RowFormat::elements:
            return StoredType::of<T>(height, width);
        case RowFormat::float32:
            return StoredType::of<float>(height, width);
        case RowFormat::float16:
            return StoredType::of<float16>(height, width);
        case RowFormat::bfloat16:
            return StoredType::of<bfloat16>(height, width);
        default:
            return type_of_rows(format, width, height);
    }
}

/// The format and width of rows of this type that are to be read as T; none if there are no such rows. Rows that are
/// not of few bits have `width` elements.
template <class T>
std::optional<RowShape> row_shape(StoredType const& type, std::size_t width) {
    if (type.dims.empty()) return std::nullopt;
    if (type.is<T>()) return RowShape{RowFormat::elements, width};
    if (type.is<float>()) return RowShape{RowFormat::float32, width};
    if (type.is<float16>()) return RowShape{RowFormat::float16, width};
    if (type.is<bfloat16>()) return RowShape{RowFormat::bfloat16, width};
    return shape_of_rows(type);
}

}  // namespace rowan::inline v0::detail

#include <rowan/sparse/detail/stored_type_inl.hpp>
