// rowan/io/attribute_inl.hpp: definitions of rowan/io/attribute.hpp.
#pragma once

#include <rowan/io/attribute.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/message_inl.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <ostream>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// The message of an attribute: one field for each type, of which only the field of `type` is set.
struct Attr {
    std::string name;
    std::int32_t type = 0;
    std::optional<std::int32_t> i;
    std::optional<float> f;
    std::optional<std::string> s;
    std::vector<std::int32_t> ints;
    std::vector<float> floats;
    std::vector<std::string> strings;
    std::optional<bool> b;
    std::vector<bool> bools;
    std::optional<BlockIndex> block_idx;
    std::optional<std::int64_t> l;
    std::vector<BlockIndex> blocks_idx;
    std::vector<std::int64_t> longs;
    std::vector<double> float64s;
    std::optional<VarName> var_name;
    std::vector<VarName> vars_name;
    std::optional<double> float64;
};

#define ROWAN_FIELDS(X, T)                \
    X(T, REQUIRED, STRING, name, 1)       \
    X(T, REQUIRED, ENUM, type, 2)         \
    X(T, OPTIONAL, INT32, i, 3)           \
    X(T, OPTIONAL, FLOAT, f, 4)           \
    X(T, OPTIONAL, STRING, s, 5)          \
    X(T, REPEATED, INT32, ints, 6)        \
    X(T, REPEATED, FLOAT, floats, 7)      \
    X(T, REPEATED, STRING, strings, 8)    \
    X(T, OPTIONAL, BOOL, b, 10)           \
    X(T, REPEATED, BOOL, bools, 11)       \
    X(T, OPTIONAL, INT32, block_idx, 12)  \
    X(T, OPTIONAL, INT64, l, 13)          \
    X(T, REPEATED, INT32, blocks_idx, 14) \
    X(T, REPEATED, INT64, longs, 15)      \
    X(T, REPEATED, DOUBLE, float64s, 16)  \
    X(T, OPTIONAL, STRING, var_name, 17)  \
    X(T, REPEATED, STRING, vars_name, 18) \
    X(T, OPTIONAL, DOUBLE, float64, 19)

/// The member of `fields` that holds values of type k.
template <std::size_t k, class Fields>
auto& attribute_field(Fields& fields) {
    auto members = std::tie(fields.i, fields.f, fields.s, fields.ints, fields.floats, fields.strings, fields.b,
                            fields.bools, fields.block_idx, fields.l, fields.blocks_idx, fields.longs, fields.float64s,
                            fields.var_name, fields.vars_name, fields.float64);
    return std::get<k>(members);
}

inline constexpr std::array attribute_types{"INT",      "FLOAT",    "STRING", "INTS",   "FLOATS", "STRINGS",
                                            "BOOLEAN",  "BOOLEANS", "BLOCK",  "LONG",   "BLOCKS", "LONGS",
                                            "FLOAT64S", "VAR",      "VARS",   "FLOAT64"};
static_assert(std::variant_size_v<AttributeValue> == attribute_types.size());

template <>
struct message_rules<Attr> : NoRules {
    static void value(WireValue const& v, std::uint32_t tag) {
        if (tag == 1 || tag == 17 || tag == 18) v.name();
        if (tag == 2 && (v.number < 0 || v.number >= std::int64_t{attribute_types.size()})) {
            v.refuse("is " + std::to_string(v.number) + ", which is not an attribute type");
        }
    }
    /// Checks that the field of the type is present, unless it is a list, and that no field of another type is.
    static void all(WireSeen const& seen);
};

ROWAN_MESSAGE(Attr, ROWAN_FIELDS)
#undef ROWAN_FIELDS

/// An Attribute is encoded and decoded as an Attr.
template <>
struct message<Attribute> : message<Attr> {
    using fields_type = Attr;

    static Attr to_fields(Attribute const& a);
    static Attribute from_fields(Attr&& fields);

private:
    template <class F>
    static void for_kind(std::size_t kind, F const& f) {
        [&]<std::size_t... k>(std::index_sequence<k...>) {
            static_cast<void>(((k == kind && (f(std::integral_constant<std::size_t, k>{}), true)) || ...));
        }
        (std::make_index_sequence<std::variant_size_v<AttributeValue>>{});
    }
};

/// The blocks that an attribute refers to; none if it has another type.
std::span<BlockIndex const> blocks_of(Attribute const& a);

void append_text(std::string& text, std::string const& x);
void append_text(std::string& text, bool x);
void append_text(std::string& text, BlockIndex x);
void append_text(std::string& text, VarName const& x);
template <class T>
requires std::is_arithmetic_v<T>
void append_text(std::string& text, T x) {
    char shortest[32];
    text.append(shortest, std::to_chars(shortest, shortest + sizeof shortest, x).ptr);
}
template <class T>
void append_text(std::string& text, std::vector<T> const& list) {
    text += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i != 0) text.append(", ");
        append_text(text, static_cast<T const&>(list[i]));
    }
    text += ']';
}

ROWAN_FUNCTION ROWAN_RARE void message_rules<Attr>::all(WireSeen const& seen) {
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

ROWAN_FUNCTION ROWAN_RARE Attr message<Attribute>::to_fields(Attribute const& a) {
    Attr fields;
    fields.name = a.name;
    fields.type = static_cast<std::int32_t>(a.value.index());
    for_kind(a.value.index(), [&](auto k) { attribute_field<k>(fields) = std::get<k>(a.value); });
    return fields;
}

ROWAN_FUNCTION ROWAN_RARE Attribute message<Attribute>::from_fields(Attr&& fields) {
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

ROWAN_FUNCTION ROWAN_RARE std::span<BlockIndex const> blocks_of(Attribute const& a) {
    if (auto const* const one = std::get_if<BlockIndex>(&a.value)) return {one, 1};
    if (auto const* const list = std::get_if<std::vector<BlockIndex>>(&a.value)) return *list;
    return {};
}

ROWAN_FUNCTION ROWAN_RARE void append_text(std::string& text, std::string const& x) {
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

ROWAN_FUNCTION ROWAN_RARE void append_text(std::string& text, bool x) { text.append(x ? "true" : "false"); }

ROWAN_FUNCTION ROWAN_RARE void append_text(std::string& text, BlockIndex x) {
    text.append("block ").append(std::to_string(x.value));
}

ROWAN_FUNCTION ROWAN_RARE void append_text(std::string& text, VarName const& x) { text.append(x.value); }

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE bool operator==(Attribute const& a, Attribute const& b) {
    return a.name == b.name && a.value == b.value;
}

ROWAN_FUNCTION ROWAN_RARE std::string to_string(Attribute const& a) {
    std::string text = a.name + ": ";
    std::visit([&](auto const& x) { detail::append_text(text, x); }, a.value);
    return text;
}

ROWAN_FUNCTION ROWAN_RARE std::ostream& operator<<(std::ostream& out, Attribute const& a) {
    return out << to_string(a);
}

}  // namespace rowan::inline v0

#endif
