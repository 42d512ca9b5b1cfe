// rowan/io/detail/file_reader.hpp: FileReader, a bounds-checked reader of a file, with the interface of ByteReader.
#pragma once

#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace rowan::inline v0::detail {

/// A position in a file. Reads are bounds-checked first and go directly into their destination.
class FileReader {
public:
    explicit FileReader(InputFile const& file) : FileReader(file, 0, file.size()) {}
    /// The bytes [begin, end) of the file; begin <= end <= file.size().
    FileReader(InputFile const& file, std::uint64_t begin, std::uint64_t end) : file_(&file), at_(begin), end_(end) {}

    std::uint64_t position() const noexcept { return at_; }
    std::uint64_t left() const noexcept { return end_ - at_; }

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

    /// errors   FormatError unless all bytes were read
    void expect_end(char const* field) const { check_end(field, left(), at_); }

private:
    InputFile const* file_;
    std::uint64_t at_;
    std::uint64_t end_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/file_reader_inl.hpp>
