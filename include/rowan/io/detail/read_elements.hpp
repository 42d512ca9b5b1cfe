// rowan/io/detail/read_elements.hpp: the elements of tensors, from a ByteReader or a FileReader.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Fills `to` with the next elements. A bool that is neither 0 nor 1 would be no bool at all.
/// errors   FormatError if fewer bytes are left, or a truth value is none
template <class T, class Reader>
void read_elements(Reader& in, char const* field, std::span<T> to) {
    std::uint64_t const begin = in.position();
    auto const bytes = std::as_writable_bytes(to);
    in.read(field, bytes);
    if constexpr (std::is_same_v<T, bool>) {
        auto const bad = std::ranges::find_if(bytes, [](std::byte x) { return x > std::byte{1}; });
        if (bad == bytes.end()) return;
        throw FormatError(
            begin + static_cast<std::uint64_t>(bad - bytes.begin()), field,
            "has the truth value " + std::to_string(std::to_integer<int>(*bad)) + ", which is neither 0 nor 1");
    }
}

/// How many bytes the elements of a shape have that came from outside. No more are there than `left`.
/// errors   FormatError if the shape needs more, or has more dims than a tensor can
template <class T, class Shape>
std::uint64_t element_bytes(std::uint64_t position, char const* field, Shape const& shape, std::uint64_t left) {
    if (shape.size() > Tensor<T>::max_rank) {
        throw FormatError(
            position, field,
            "has " + std::to_string(shape.size()) + " dims, more than " + std::to_string(Tensor<T>::max_rank));
    }
    auto const size = shape_size(shape, sizeof(T));
    if (!size) throw FormatError(position, field, "is " + shape_text(shape) + ", more than 2^63 - 1 bytes");
    std::uint64_t const bytes = *size * sizeof(T);
    if (bytes > left) {
        throw FormatError(position, field,
                          "is " + shape_text(shape) + ", which needs " + std::to_string(bytes) + " bytes, " +
                              std::to_string(left) + " are left");
    }
    return bytes;
}

}  // namespace rowan::inline v0::detail
