// rowan/io/attribute.hpp: Attribute, a named value of an operator, as a protobuf message.
#pragma once

#include <rowan/io/message.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rowan::inline v0 {

/// A block of the program, by index.
struct BlockIndex {
    std::int32_t value = 0;  ///< index in ProgramDesc::blocks

    friend bool operator==(BlockIndex, BlockIndex) = default;
};

/// A variable of the block or of an enclosing block, by name.
struct VarName {
    std::string value;  ///< the name

    friend bool operator==(VarName const&, VarName const&) = default;
};

/// The value of an attribute. The index of an alternative is the number of its type in messages: INT, FLOAT, STRING,
/// INTS, FLOATS, STRINGS, BOOLEAN, BOOLEANS, BLOCK, LONG, BLOCKS, LONGS, FLOAT64S, VAR, VARS, FLOAT64.
using AttributeValue =
    std::variant<std::int32_t, float, std::string, std::vector<std::int32_t>, std::vector<float>,
                 std::vector<std::string>, bool, std::vector<bool>, BlockIndex, std::int64_t, std::vector<BlockIndex>,
                 std::vector<std::int64_t>, std::vector<double>, VarName, std::vector<VarName>, double>;

/// A name and a value.
struct Attribute {
    std::string name{};      ///< unique within its operator
    AttributeValue value{};  ///< the alternative determines its type

    friend bool operator==(Attribute const&, Attribute const&) = default;
};

namespace detail {

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

}  // namespace detail

/// The attribute as text: "sizes: [3, 4]".
/// errors   none
/// cost     O(length of the text)
std::string to_string(Attribute const& a);

inline std::ostream& operator<<(std::ostream& out, Attribute const& a) { return out << to_string(a); }

}  // namespace rowan::inline v0

#include <rowan/io/attribute_inl.hpp>
