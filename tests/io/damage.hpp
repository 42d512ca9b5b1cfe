// tests/io/damage.hpp: bytes from hexadecimal text, truncations and bit flips.
#pragma once

#include "catch.hpp"
#include "io/files.hpp"

#include <rowan/core/error.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace damage {

using test::Bytes;

/// "0100 ff": spaces are ignored.
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

/// Concatenates the parts.
inline Bytes join(std::vector<Bytes> const& parts) {
    Bytes all;
    for (Bytes const& part : parts) std::ranges::copy(part, std::back_inserter(all));
    return all;
}

/// The text of the rowan::Error that `call` throws, or "none".
template <class Call>
std::string refusal(Call const& call) {
    try {
        call();
    } catch (rowan::Error const& error) {
        return error.what();
    }
    return "none";
}

/// Every shorter length must throw a rowan::Error.
template <class Load>
void check_truncations(Bytes const& bytes, Load const& load) {
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        CAPTURE(n);
        Bytes const cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));  // its end is the end of an allocation
        CHECK(refusal([&] { load(cut); }) != "none");
    }
}

/// Flips each bit in turn: `load` must throw a rowan::Error, or return a value that `accepts` allows. Returns the
/// number of errors.
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

}  // namespace damage
