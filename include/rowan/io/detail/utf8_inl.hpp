// rowan/io/detail/utf8_inl.hpp: definitions of rowan/io/detail/utf8.hpp.
#pragma once

#include <rowan/io/detail/utf8.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::size_t invalid_utf8(std::string_view text) noexcept {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        unsigned const first = byte(i);
        std::size_t more = 0;
        if (first >= 0x80) more = first < 0xC2 || first > 0xF4 ? 4 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        if (more == 4 || more >= text.size() - i) return i;
        for (std::size_t k = 1; k <= more; ++k) {
            unsigned const low = k > 1 ? 0x80 : first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
            unsigned const high = k > 1 ? 0xBF : first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
            if (byte(i + k) < low || byte(i + k) > high) return i;
        }
        i += more + 1;
    }
    return text.size();
}

}  // namespace rowan::inline v0::detail

#endif
