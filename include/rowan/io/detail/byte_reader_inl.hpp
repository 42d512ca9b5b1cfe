// rowan/io/detail/byte_reader_inl.hpp: definitions of rowan/io/detail/byte_reader.hpp.
#pragma once

#include <rowan/io/detail/byte_reader.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void check_left(char const* field, std::uint64_t n, std::uint64_t left, std::uint64_t position) {
    if (n <= left) return;
    throw FormatError(position, field, {"needs ", n, " bytes, ", left, " are left"});
}

ROWAN_CALLED_FUNCTION void check_end(char const* field, std::uint64_t left, std::uint64_t position) {
    if (left != 0) throw FormatError(position, field, {"ends here, but ", left, " bytes follow"});
}

ROWAN_FUNCTION std::span<std::byte const> ByteReader::bytes(char const* field, std::uint64_t n) {
    check_left(field, n, left(), position());
    at_ += static_cast<std::size_t>(n);
    return bytes_.subspan(at_ - static_cast<std::size_t>(n), static_cast<std::size_t>(n));
}

}  // namespace rowan::inline v0::detail

#endif
