// rowan/io/detail/json_reader_inl.hpp: definitions of rowan/io/detail/json_reader.hpp.
#pragma once

#include <rowan/io/detail/json_reader.hpp>
#include <rowan/io/detail/utf8.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void JsonReader::check_utf8() const {
    if (std::size_t const bad = invalid_utf8(text_); bad != text_.size()) fail(bad, "is not UTF-8");
}

ROWAN_CALLED_FUNCTION void JsonReader::fail(std::string const& expected) const {
    std::string found = "its end";
    if (at_ < text_.size()) {
        char const c = text_[at_];
        bool const printable = c >= ' ' && c <= '~';
        found = printable ? std::string("'") + c + "'" : "byte " + std::to_string(static_cast<unsigned char>(c));
    }
    fail(at_, "has " + found + ", expected " + expected);
}

ROWAN_FUNCTION JsonText JsonReader::string() {
    if (!accept('"')) fail("a string");
    std::size_t const begin = at_;
    std::size_t to = begin;
    for (;;) {
        if (at_ == text_.size()) fail("a string that ends");
        if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("a string without control characters");
        char const c = text_[at_++];
        if (c == '"') break;
        if (c == '\\') {
            escape(to);
        } else {
            text_[to++] = c;
        }
    }
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(to - begin)};
}

/// Replaces an escape, whose backslash has been read.
ROWAN_CALLED_FUNCTION void JsonReader::escape(std::size_t& to) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) fail("a string that ends");
    if (std::size_t const i = letters.find(text_[at_]); i != letters.npos) {
        text_[to++] = meanings[i];
        ++at_;
        return;
    }
    if (text_[at_] != 'u') fail("an escape of JSON");
    std::size_t const begin = at_ - 1;
    std::uint32_t code = code_unit();
    if (code >= 0xD800 && code < 0xE000) {
        bool const paired = code < 0xDC00 && std::string_view(text_).substr(at_).starts_with("\\u");
        std::uint32_t low = 0;
        if (paired) {
            ++at_;
            low = code_unit();
        }
        if (low < 0xDC00 || low >= 0xE000) fail(begin, "has a surrogate without the other of a pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    int const more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr std::array<std::uint32_t, 4> first{0, 0xC0, 0xE0, 0xF0};
    text_[to++] = static_cast<char>(first[static_cast<std::size_t>(more)] | code >> 6 * more);
    for (int i = more; i-- > 0;) text_[to++] = static_cast<char>(0x80 | (code >> 6 * i & 0x3F));
}

/// The 4 hexadecimal digits after the u at the current position.
ROWAN_CALLED_FUNCTION std::uint32_t JsonReader::code_unit() {
    ++at_;
    std::uint32_t code = 0;
    char const* const begin = text_.data() + at_;
    char const* const end = begin + std::min<std::size_t>(4, text_.size() - at_);
    if (std::from_chars(begin, end, code, 16).ptr - begin != 4) fail("4 hexadecimal digits");
    at_ += 4;
    return code;
}

ROWAN_FUNCTION std::int64_t JsonReader::number() {
    skip();
    std::uint64_t x = 0;
    char const* const begin = text_.data() + at_;
    auto const [end, code] = std::from_chars(begin, text_.data() + text_.size(), x);
    if (code != std::errc() || x > std::numeric_limits<std::int64_t>::max()) fail("an integer in [0, 2^63 - 1]");
    if (*begin == '0' && end - begin > 1) fail("an integer without a leading zero");
    at_ += static_cast<std::size_t>(end - begin);
    return static_cast<std::int64_t>(x);
}

}  // namespace rowan::inline v0::detail

#endif
