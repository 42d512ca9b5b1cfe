// rowan/detail/npy_header.hpp: the header of a .npy file, a Python dictionary in text.
#pragma once

#include <rowan/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// What a .npy file says of its array.
struct NpyHeader {
    std::string type;  ///< as NumPy spells it: "<f4", "|b1"
    bool fortran_order = false;
    std::vector<std::size_t> shape;

    friend bool operator==(NpyHeader const&, NpyHeader const&) = default;
};

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr std::size_t npy_header_limit = 10'000;  // NumPy's own

/// Takes the text apart. Of Python it knows what NumPy writes: a dictionary of a string, a truth value and a tuple of integers.
class NpyParser {
public:
    NpyParser(std::string_view text, std::uint64_t offset) : text_(text), offset_(offset) {}

    NpyHeader header();

private:
    std::uint64_t position() {
        skip();
        return offset_ + at_;
    }
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    [[noreturn]] void fail(std::string const& expected) const;
    static void once(bool& seen, std::string const& key, std::uint64_t at);
    bool accept(char c);
    void take(char c);
    bool accept(std::string_view word);
    std::string string();
    bool boolean();
    std::vector<std::size_t> tuple();

    std::string_view text_;
    std::uint64_t offset_;  // where the text begins in the file
    std::size_t at_ = 0;
};

/// Reads up to where the elements begin.
template <class Reader>
NpyHeader read_npy_header(Reader& in) {
    std::array<char, 6> magic;
    in.read("the magic number", std::as_writable_bytes(std::span(magic)));
    if (std::string_view(magic.data(), magic.size()) != npy_magic)
        throw FormatError(0, "the magic number", "is not that of a .npy file");
    auto const major = in.template number<std::uint8_t>("the version");
    auto const minor = in.template number<std::uint8_t>("the version");
    if (major < 1 || major > 3 || minor != 0) {
        throw FormatError(6, "the version",
                          "is " + std::to_string(major) + "." + std::to_string(minor) + ", known are 1.0, 2.0 and 3.0");
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
    return NpyParser(text, begin).header();
}

/// The bytes before the elements, as NumPy writes them: room for the first dim to grow in place, elements from a multiple of 64 on.
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

#include <rowan/detail/npy_header_inl.hpp>
