// rowan/io/detail/read_elements.hpp: read_elements, from a ByteReader or a FileReader into a tensor.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Fills `to` with the next elements.
/// errors   FormatError if fewer bytes are left, or a bool is neither 0 nor 1
template <class T, class Reader>
void read_elements(Reader& in, char const* field, std::span<T> to) {
    std::uint64_t const begin = in.position();
    auto const bytes = std::as_writable_bytes(to);
    in.read(field, bytes);
    if constexpr (std::is_same_v<T, bool>) {
        auto const bad = std::ranges::find_if(bytes, [](std::byte x) { return x > std::byte{1}; });
        if (bad == bytes.end()) return;
        throw FormatError(begin + static_cast<std::uint64_t>(bad - bytes.begin()), field,
                          {"has the truth value ", std::to_integer<int>(*bad), ", which is neither 0 nor 1"});
    }
}

/// The size in bytes of the elements of an untrusted shape.
/// errors   FormatError if it exceeds `left`, or the shape has more dims than a tensor can have
template <class T, class Shape>
std::uint64_t element_bytes(std::uint64_t position, char const* field, Shape const& shape, std::uint64_t left) {
    if (shape.size() > Tensor<T>::max_rank) {
        throw FormatError(position, field, {"has ", shape.size(), " dims, more than ", Tensor<T>::max_rank});
    }
    auto const size = shape_size(shape, sizeof(T));
    if (!size) throw FormatError(position, field, {"is ", shape_text(shape), ", more than 2^63 - 1 bytes"});
    std::uint64_t const bytes = *size * sizeof(T);
    if (bytes > left) {
        throw FormatError(position, field,
                          {"is ", shape_text(shape), ", which needs ", bytes, " bytes, ", left, " are left"});
    }
    return bytes;
}

}  // namespace rowan::inline v0::detail
