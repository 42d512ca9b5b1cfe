// rowan/io/detail/safetensors_text_inl.hpp: definitions of rowan/io/detail/safetensors_text.hpp.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/detail/safetensors_header.hpp>
#include <rowan/io/detail/safetensors_text.hpp>
#include <rowan/io/detail/utf8.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <tuple>

namespace rowan::inline v0::detail {

/// A string of JSON.
ROWAN_FUNCTION ROWAN_RARE std::string json_string(char const* what, std::string const& s) {
    if (std::size_t const bad = invalid_utf8(s); bad != s.size())
        throw Error({what, " \"", s, "\" is not UTF-8 at byte ", bad});
    constexpr std::string_view letters = "\"\\bfnrt", meanings = "\"\\\b\f\n\r\t";
    std::string text = "\"";
    for (char const c : s) {
        if (std::size_t const i = meanings.find(c); i != meanings.npos) {
            text += {'\\', letters[i]};
        } else if (static_cast<unsigned char>(c) < 0x20) {
            text += std::string("\\u00") + (c < 0x10 ? '0' : '1') + "0123456789abcdef"[c & 15];
        } else {
            text += c;
        }
    }
    return text + '"';
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string safetensors_header_text(
    std::vector<SafetensorsPart>& parts, std::map<std::string, std::string> const& metadata) {
    auto const type = [](SafetensorsPart const& p) {
        return std::ranges::find(safetensors_types, p.type, &SafetensorsType::name);
    };
    std::ranges::sort(parts, [&](SafetensorsPart const& a, SafetensorsPart const& b) {
        return std::tie(a.name, a.source) < std::tie(b.name, b.source);
    });
    auto const twice = std::ranges::adjacent_find(parts, {}, &SafetensorsPart::name);
    if (twice != parts.end()) throw Error({"the tensor \"", twice->name, "\" is given twice"});
    std::ranges::stable_sort(parts, {}, type);
    std::string text = "{";
    if (!metadata.empty()) {
        text += "\"__metadata__\":{";
        for (auto const& [key, value] : metadata) {
            if (text.back() != '{') text += ',';
            text += json_string("the key", key) + ':' + json_string("the value", value);
        }
        text += '}';
    }
    std::uint64_t next = 0;
    for (SafetensorsPart const& p : parts) {
        if (p.name == "__metadata__") throw Error("a tensor cannot have the name \"__metadata__\"");
        std::string dims;
        for (std::int64_t const dim : p.shape) dims += (dims.empty() ? "" : ",") + std::to_string(dim);
        if (text.back() != '{') text += ',';
        text += json_string("the name", p.name) + ":{\"dtype\":\"";
        text.append(p.type).append("\",\"shape\":[").append(dims).append("],\"data_offsets\":[");
        text += std::to_string(next) + ',' + std::to_string(next + p.bytes) + "]}";
        next += p.bytes;
    }
    text += '}';
    text.append((8 - text.size() % 8) % 8, ' ');
    if (text.size() > safetensors_header_limit) {
        throw Error({"the header has ", text.size(), " bytes, more than ", safetensors_header_limit});
    }
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(text.size() >> 8 * i & 255);
    return bytes + text;
}

}  // namespace rowan::inline v0::detail

#endif
