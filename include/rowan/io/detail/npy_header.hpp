// rowan/io/detail/npy_header.hpp: the header of a .npy file, a Python dictionary in text.
#pragma once

#include <rowan/core/error.hpp>

#include <cstddef>
#include <cstdint>
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
template <class Reader>  // a ByteReader or a FileReader
NpyHeader read_npy_header(Reader& in);

/// The bytes before the elements, as NumPy writes them: padded so that the first dim can grow in place and the elements
/// begin at a multiple of 64.
ROWAN_IF_CALLED std::string npy_header_text(std::string_view type, std::span<std::size_t const> shape);

}  // namespace detail

}  // namespace rowan::inline v0

#include <rowan/io/detail/npy_header_inl.hpp>
