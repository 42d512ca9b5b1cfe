// tests/io/bytes.hpp: bytes spelled out, files that go away, and every way to damage a few bytes.
#pragma once

#include "catch.hpp"

#include <rowan/core/error.hpp>
#include <rowan/detail/file.hpp>

#include <unistd.h>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::string_view text) {
    auto const bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// "0100 ff": blanks are for reading only.
inline Bytes hex(std::string_view text) {
    Bytes bytes;
    int digits = 0, value = 0;
    for (char const c : text) {
        if (std::isspace(static_cast<unsigned char>(c))) continue;
        value = value * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
        if (++digits % 2 == 0) bytes.push_back(static_cast<std::byte>(std::exchange(value, 0)));
    }
    return bytes;
}

/// A path of this process and its end.
class TempPath {
public:
    explicit TempPath(std::string const& name) : path_("rowan_" + std::to_string(::getpid()) + "_" + name) {}
    TempPath(TempPath const&) = delete;
    TempPath& operator=(TempPath const&) = delete;
    ~TempPath() { std::filesystem::remove_all(path_); }
    operator std::string const&() const { return path_; }

    Bytes read() const {
        auto const bytes = rowan::detail::read_file(path_);
        return {bytes.begin(), bytes.end()};
    }
    void write(std::span<std::byte const> bytes) const { rowan::detail::write_file(path_, bytes); }

private:
    std::string path_;
};

/// All lengths less than the whole are refused with an error of rowan's.
template <class Load>
void check_truncations(Bytes const& bytes, Load const& load) {
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        CAPTURE(n);
        Bytes const cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));  // its end is the end of an allocation
        CHECK_THROWS_AS(load(cut), rowan::Error);
    }
}

/// With any one bit changed, `load` throws an error of rowan's or gives what `accepts` takes. Returns how many were refused.
template <class Load, class Accepts>
std::size_t check_bit_flips(Bytes bytes, Load const& load, Accepts const& accepts) {
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        CAPTURE(bit / 8, bit % 8);
        auto const mask = static_cast<std::byte>(1U << bit % 8);
        bytes[bit / 8] ^= mask;
        try {
            auto const loaded = load(bytes);
            CHECK(accepts(loaded, bit / 8));
        } catch (rowan::Error const&) {
            ++refused;
        }
        bytes[bit / 8] ^= mask;
    }
    return refused;
}

}  // namespace test
