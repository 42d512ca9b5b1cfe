// rowan/io/attribute_inl.hpp: definitions of rowan/io/attribute.hpp.
#pragma once

#include <rowan/io/attribute.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::span<BlockIndex const> blocks_of(Attribute const& a) {
    if (auto const* const one = std::get_if<BlockIndex>(&a.value)) return {one, 1};
    if (auto const* const list = std::get_if<std::vector<BlockIndex>>(&a.value)) return *list;
    return {};
}

ROWAN_FUNCTION void append_text(std::string& text, std::string const& x) {
    constexpr char digits[] = "0123456789abcdef";
    text += '"';
    for (char const c : x) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F) {
            text.append({'\\', 'x', digits[byte >> 4], digits[byte & 15]});
        } else {
            if (c == '"' || c == '\\') text += '\\';
            text += c;
        }
    }
    text += '"';
}

ROWAN_FUNCTION void append_text(std::string& text, bool x) { text.append(x ? "true" : "false"); }

ROWAN_FUNCTION void append_text(std::string& text, BlockIndex x) {
    text.append("block ").append(std::to_string(x.value));
}

ROWAN_FUNCTION void append_text(std::string& text, VarName const& x) { text.append(x.value); }

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION std::string to_string(Attribute const& a) {
    std::string text = a.name + ": ";
    std::visit([&](auto const& x) { detail::append_text(text, x); }, a.value);
    return text;
}

}  // namespace rowan::inline v0

#endif
