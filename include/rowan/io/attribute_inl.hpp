// rowan/io/attribute_inl.hpp: definitions of rowan/io/attribute.hpp.
#pragma once

#include <rowan/io/attribute.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void message_rules<Attr>::all(WireSeen const& seen) {
    auto const type = static_cast<std::size_t>(seen.number[1]);
    for (std::size_t k = 0; k < attribute_types.size(); ++k) {
        WireField const& field = message<Attr>::fields[k + 2];
        if (k != type && seen.count[k + 2] != 0) {
            seen.refuse(std::string(field.name),
                        std::string("is present, but the type is ").append(attribute_types[type]));
        }
        if (k == type && !field.repeated && seen.count[k + 2] == 0) {
            seen.refuse(std::string(field.name),
                        std::string("is missing, and the type is ").append(attribute_types[type]));
        }
    }
}

ROWAN_FUNCTION Attr message<Attribute>::to_fields(Attribute const& a) {
    Attr fields;
    fields.name = a.name;
    fields.type = static_cast<std::int32_t>(a.value.index());
    for_kind(a.value.index(), [&](auto k) { attribute_field<k>(fields) = std::get<k>(a.value); });
    return fields;
}

ROWAN_FUNCTION Attribute message<Attribute>::from_fields(Attr&& fields) {
    Attribute a{.name = std::move(fields.name), .value = {}};
    for_kind(static_cast<std::size_t>(fields.type), [&](auto k) {
        using Value = std::variant_alternative_t<k, AttributeValue>;
        auto& field = attribute_field<k>(fields);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, Value>) {
            a.value.emplace<k>(std::move(field));
        } else {
            a.value.emplace<k>(*std::move(field));
        }
    });
    return a;
}

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
