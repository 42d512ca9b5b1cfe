// tests/io/damage.hpp: bytes spelled out, and every way to damage a few.
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

/// All at once.
inline Bytes join(std::vector<Bytes> const& parts) {
    Bytes all;
    for (Bytes const& part : parts) std::ranges::copy(part, std::back_inserter(all));
    return all;
}

/// What `call` says when it throws an error of rowan's, or "none".
template <class Call>
std::string refusal(Call const& call) {
    try {
        call();
    } catch (rowan::Error const& error) {
        return error.what();
    }
    return "none";
}

/// All lengths less than the whole are refused with an error of rowan's.
template <class Load>
void check_truncations(Bytes const& bytes, Load const& load) {
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        CAPTURE(n);
        Bytes const cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));  // its end is the end of an allocation
        CHECK(refusal([&] { load(cut); }) != "none");
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

}  // namespace damage
