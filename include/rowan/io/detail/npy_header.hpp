// rowan/io/detail/npy_header.hpp: the header of a .npy file, a Python dictionary in text.
#pragma once

#include <rowan/core/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// The header of a .npy file.
struct NpyHeader {
    std::string type;  ///< as NumPy spells it: "<f4", "|b1"
    bool fortran_order = false;
    std::vector<std::size_t> shape;

    friend bool operator==(NpyHeader const&, NpyHeader const&) = default;
};

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr std::size_t npy_header_limit = 10'000;  // NumPy's limit

/// Parses the text of a header, which begins at `offset` in the file.
/// errors   FormatError if it is not in the form that NumPy writes
ROWAN_IF_CALLED NpyHeader parse_npy_header(std::string_view text, std::uint64_t offset);

/// Reads everything before the elements.
template <class Reader>
NpyHeader read_npy_header(Reader& in) {
    std::array<char, 6> magic;
    in.read("the magic number", std::as_writable_bytes(std::span(magic)));
    if (std::string_view(magic.data(), magic.size()) != npy_magic)
        throw FormatError(0, "the magic number", "is not that of a .npy file");
    auto const major = in.template number<std::uint8_t>("the version");
    auto const minor = in.template number<std::uint8_t>("the version");
    if (major < 1 || major > 3 || minor != 0) {
        throw FormatError(
            6, "the version",
            "is " + std::to_string(major) + "." + std::to_string(minor) + ", supported are 1.0, 2.0 and 3.0");
    }
    std::uint32_t const length = major == 1 ? in.template number<std::uint16_t>("the header's length")
                                            : in.template number<std::uint32_t>("the header's length");
    if (length > npy_header_limit) {
        throw FormatError(8, "the header's length",
                          "is " + std::to_string(length) + ", more than " + std::to_string(npy_header_limit));
    }
    std::uint64_t const begin = in.position();
    if (length > in.left()) {
        throw FormatError(8, "the header's length",
                          "is " + std::to_string(length) + ", but " + std::to_string(in.left()) + " bytes follow");
    }
    std::string text(length, '\0');
    in.read("the header", std::as_writable_bytes(std::span(text)));
    return parse_npy_header(text, begin);
}

/// The bytes before the elements, as NumPy writes them: padded so that the first dim can grow in place and the elements
/// begin at a multiple of 64.
template <class Shape>
std::string npy_header_text(std::string_view type, Shape const& shape) {
    std::string dims;
    for (std::size_t i = 0; i < shape.size(); ++i) dims += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    if (shape.size() == 1) dims += ',';
    std::string text = std::string("{'descr': '").append(type).append("', 'fortran_order': False, 'shape': (");
    text.append(dims).append("), }");
    if (shape.size() != 0) text.append(21 - std::to_string(shape[0]).size(), ' ');
    std::size_t const before = npy_magic.size() + 4;
    text.append(64 - (before + text.size() + 1) % 64, ' ').append("\n");
    std::string bytes(npy_magic);
    bytes.append({'\1', '\0', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256)});
    return bytes + text;
}

}  // namespace detail

}  // namespace rowan::inline v0

#include <rowan/io/detail/npy_header_inl.hpp>
