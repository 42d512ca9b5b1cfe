// rowan/io/detail/byte_reader.hpp: ByteReader, a bounds-checked reader of bytes in memory.
#pragma once

#include <rowan/core/error.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace rowan::inline v0::detail {

static_assert(std::endian::native == std::endian::little, "rowan's files are little-endian, and this machine is not");

/// errors   FormatError unless at least n bytes are left
ROWAN_IF_CALLED void check_left(char const* field, std::uint64_t n, std::uint64_t left, std::uint64_t position);

/// errors   FormatError if any bytes are left
ROWAN_IF_CALLED void check_end(char const* field, std::uint64_t left, std::uint64_t position);

/// A position in untrusted bytes. Every size is compared with the number of bytes left before anything is read.
class ByteReader {
public:
    /// `offset`: the position of the bytes in the file, for error messages.
    explicit ByteReader(std::span<std::byte const> bytes, std::uint64_t offset = 0) : bytes_(bytes), offset_(offset) {}

    std::uint64_t position() const noexcept { return offset_ + at_; }
    std::size_t left() const noexcept { return bytes_.size() - at_; }

    /// Returns the next n bytes.
    /// errors   FormatError if fewer are left
    std::span<std::byte const> bytes(char const* field, std::uint64_t n);

    /// Fills `to` with the next bytes.
    void read(char const* field, std::span<std::byte> to) {
        auto const from = bytes(field, to.size());
        if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
    }

    /// The next number, little-endian.
    template <class I>
    requires std::is_arithmetic_v<I> I number(char const* field) {
        I x;
        std::memcpy(&x, bytes(field, sizeof x).data(), sizeof x);
        return x;
    }

    /// errors   FormatError unless all bytes were read
    void expect_end(char const* field) const { check_end(field, left(), position()); }

private:
    std::span<std::byte const> bytes_;
    std::size_t at_ = 0;
    std::uint64_t offset_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/byte_reader_inl.hpp>
