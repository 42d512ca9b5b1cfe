// rowan/io/detail/buffered_reader.hpp: BufferedReader, a bounds-checked reader of many small parts of a file.
#pragma once

#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

/// A position in untrusted bytes, in a file or in memory. Reads a file in blocks of 64 KiB.
class BufferedReader {
public:
    explicit BufferedReader(InputFile const& file) : file_(&file), size_(file.size()) {}
    explicit BufferedReader(std::span<std::byte const> bytes) : window_(bytes), size_(bytes.size()) {}

    std::uint64_t position() const noexcept { return at_; }
    std::uint64_t left() const noexcept { return size_ - at_; }

    /// Skips the next n bytes.
    void skip(char const* field, std::uint64_t n) {
        check_left(field, n, left(), at_);
        at_ += n;
    }

    /// Fills `to` with the next bytes.
    void read(char const* field, std::span<std::byte> to);

    /// The next number, little-endian.
    template <class I>
    requires std::is_arithmetic_v<I> I number(char const* field) {
        I x;
        read(field, std::as_writable_bytes(std::span(&x, 1)));
        return x;
    }

private:
    InputFile const* file_ = nullptr;
    std::vector<std::byte> buffer_;
    std::span<std::byte const> window_;  // the bytes from begin_ on
    std::uint64_t begin_ = 0, at_ = 0, size_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/buffered_reader_inl.hpp>
