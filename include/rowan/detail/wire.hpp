// rowan/detail/wire.hpp: checks the bytes of a protobuf message against the fields that it may have, before anything is made of them.
#pragma once

#include <rowan/detail/byte_reader.hpp>
#include <rowan/detail/utf8.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

/// What the bytes of a field are.
enum class wire_kind : std::uint8_t { int32, int64, boolean, fixed32, fixed64, text, message };

/// What one value of a field is: of a list its element, of an optional value the value.
template <class T>
struct wire_value_of {
    using type = T;
};
template <class T>
struct wire_value_of<std::vector<T>> {
    using type = T;
};
template <class T>
struct wire_value_of<std::optional<T>> {
    using type = T;
};
template <class T>
using wire_value_t = typename wire_value_of<T>::type;

/// Specialised for every struct that is a message; see detail/nanopb.hpp.
template <class T>
struct message;

/// Values that are wrapped to tell them from others: a number or a text on the wire, its only member `value`.
template <class T>
concept wrapped = requires(T x) {
    x.value;
    requires std::is_aggregate_v<T>;
    requires sizeof x == sizeof x.value;
};

template <class T>
constexpr wire_kind wire_kind_of() {
    using V = wire_value_t<T>;
    if constexpr (std::is_same_v<V, bool>) {
        return wire_kind::boolean;
    } else if constexpr (std::is_integral_v<V> || std::is_enum_v<V>) {
        return sizeof(V) == 4 ? wire_kind::int32 : wire_kind::int64;
    } else if constexpr (std::is_floating_point_v<V>) {
        return sizeof(V) == 4 ? wire_kind::fixed32 : wire_kind::fixed64;
    } else if constexpr (std::is_same_v<V, std::string>) {
        return wire_kind::text;
    } else if constexpr (wrapped<V>) {
        return wire_kind_of<decltype(V::value)>();
    } else {
        return wire_kind::message;
    }
}

/// One value as it stands in the bytes.
struct WireValue {
    std::uint64_t offset;
    std::string const& field;
    std::int64_t number = 0;     ///< of whole numbers and truth values
    std::string_view text = {};  ///< of texts

    [[noreturn]] void refuse(std::string const& reason) const { throw FormatError(offset, field, reason); }

    /// errors   FormatError unless the text is a name: not empty, at most 4 KiB, no NUL
    void name() const {
        if (text.empty()) refuse("is empty, and should be a name");
        name_or_none();
    }
    void name_or_none() const {
        if (text.size() > 4096) refuse("is a name of " + std::to_string(text.size()) + " bytes, more than 4096");
        if (text.find('\0') != text.npos) refuse("has the byte 0 at position " + std::to_string(text.find('\0')));
    }
};

/// How often each field of a message was there, and the last number of each, by the field's place in the list.
struct WireSeen {
    static constexpr std::size_t max_fields = 20;

    std::uint64_t offset;
    std::string_view name;
    std::array<std::size_t, max_fields> count{};
    std::array<std::int64_t, max_fields> number{};

    [[noreturn]] void refuse(std::string const& field, std::string const& reason) const {
        throw FormatError(offset, std::string(name).append(".").append(field), reason);
    }
};

struct WireMessage;

struct WireField {
    std::string_view name;
    std::uint32_t tag;
    bool required, repeated;
    wire_kind kind;
    WireMessage const* message;  ///< of the field, if it is one
};

/// All that may be in a message.
struct WireMessage {
    std::string_view name;
    std::span<WireField const> fields;
    void (*check_value)(WireValue const&, std::uint32_t tag);
    void (*check_all)(WireSeen const&);
};

/// What is asked of a message beyond the types of its fields: of each value, of the fields that are there, of the struct that is made.
struct NoRules {
    static void value(WireValue const&, std::uint32_t) {}
    static void all(WireSeen const&) {}
    template <class T>
    static void whole(T const&, std::uint64_t, std::string const&) {}
};
template <class T>
struct message_rules : NoRules {};

/// Goes through the bytes of one message and of all in it.
class WireCheck {
public:
    static constexpr std::size_t max_bytes = std::size_t{64} << 20;
    static constexpr std::size_t max_elements = std::size_t{1} << 20;

    /// errors   FormatError unless every field that is known has its wire type, length, range and valid UTF-8, singular ones are there
    ///          at most once and required ones at all; nothing is a group; all is at most 64 MiB and a million values, the unknown too
    void run(WireMessage const& message, std::span<std::byte const> bytes, std::uint64_t offset) {
        if (bytes.size() > max_bytes) {
            throw FormatError(offset, std::string(message.name),
                              "has " + std::to_string(bytes.size()) + " bytes, more than " + std::to_string(max_bytes));
        }
        walk(message, bytes, offset);
    }

private:
    static constexpr std::uint32_t varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5;

    void walk(WireMessage const& message, std::span<std::byte const> bytes, std::uint64_t offset) {
        ByteReader in(bytes, offset);
        WireSeen seen{offset, message.name};
        std::string const whole(message.name);
        std::string field;
        WireField const* found = nullptr;
        for (std::uint64_t tag = 0; in.left() != 0;) {
            std::uint64_t const at = in.position();
            std::uint64_t const key = number(in, whole);
            if (key >> 3 != tag || tag == 0) {
                tag = key >> 3;
                auto const known = std::ranges::find(message.fields, tag, &WireField::tag);
                found = known == message.fields.end() ? nullptr : &*known;
                field = whole + "." + (found != nullptr ? std::string(found->name) : std::to_string(tag));
            }
            auto const type = static_cast<std::uint32_t>(key & 7);
            if (tag == 0 || key > std::numeric_limits<std::uint32_t>::max()) {
                throw FormatError(at, field, "is no field: numbers of fields are in [1, 2^29)");
            }
            if (type == 3 || type == 4) throw FormatError(at, field, "is a group, which no descriptor has");
            if (type > fixed32)
                throw FormatError(at, field, "has wire type " + std::to_string(type) + ", which is none");
            if (found == nullptr) {
                spend(at, field);
                skip(in, field, type);
                continue;
            }
            std::uint32_t const want = wire_type(found->kind);
            auto const i = static_cast<std::size_t>(found - message.fields.data());
            ++seen.count[i];
            if (type == delimited && want != delimited && found->repeated) {
                std::uint64_t const size = number(in, field);
                std::uint64_t const begin = in.position();
                ByteReader list(in.bytes(field.c_str(), size), begin);
                while (list.left() != 0) value(message, *found, list, field, seen.number[i]);
                continue;
            }
            if (type != want) {
                throw FormatError(at, field,
                                  "has wire type " + std::to_string(type) + ", expected " + std::to_string(want));
            }
            if (!found->repeated && seen.count[i] > 1) throw FormatError(at, field, "is there twice");
            value(message, *found, in, field, seen.number[i]);
        }
        for (std::size_t i = 0; i < message.fields.size(); ++i) {
            if (message.fields[i].required && seen.count[i] == 0)
                seen.refuse(std::string(message.fields[i].name), "is missing");
        }
        message.check_all(seen);
    }

    void value(WireMessage const& message, WireField const& field, ByteReader& in, std::string const& name,
               std::int64_t& last) {
        spend(in.position(), name);
        WireValue v{in.position(), name};
        switch (field.kind) {
            case wire_kind::int32:
            case wire_kind::int64:
            case wire_kind::boolean:
                last = v.number = static_cast<std::int64_t>(number(in, name));
                if (field.kind == wire_kind::int32 && v.number != static_cast<std::int32_t>(v.number)) {
                    v.refuse("is " + std::to_string(v.number) + ", which does not fit 32 bits");
                }
                if (field.kind == wire_kind::boolean && v.number != 0 && v.number != 1) {
                    v.refuse("is " + std::to_string(v.number) + ", neither 0 nor 1");
                }
                break;
            case wire_kind::fixed32:
                in.bytes(name.c_str(), 4);
                break;
            case wire_kind::fixed64:
                in.bytes(name.c_str(), 8);
                break;
            case wire_kind::message: {
                std::uint64_t const size = number(in, name);
                std::uint64_t const begin = in.position();
                return walk(*field.message, in.bytes(name.c_str(), size), begin);
            }
            case wire_kind::text: {
                std::uint64_t const size = number(in, name);
                v.offset = in.position();
                auto const bytes = in.bytes(name.c_str(), size);
                v.text = {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
                if (auto const bad = invalid_utf8(v.text); bad != v.text.size()) {
                    v.refuse("is not UTF-8 at position " + std::to_string(bad));
                }
                break;
            }
        }
        message.check_value(v, field.tag);
    }

    void skip(ByteReader& in, std::string const& field, std::uint32_t type) {
        if (type == varint) {
            number(in, field);
        } else {
            in.bytes(field.c_str(), type == fixed32 ? 4 : type == fixed64 ? 8 : number(in, field));
        }
    }

    void spend(std::uint64_t at, std::string const& field) {
        if (++elements_ > max_elements) {
            throw FormatError(at, field,
                              "is one value too many: a descriptor has at most " + std::to_string(max_elements));
        }
    }

    static std::uint32_t wire_type(wire_kind kind) {
        if (kind == wire_kind::fixed32) return fixed32;
        if (kind == wire_kind::fixed64) return fixed64;
        return kind == wire_kind::text || kind == wire_kind::message ? delimited : varint;
    }

    /// A number of 7 bits a byte.
    static std::uint64_t number(ByteReader& in, std::string const& field) {
        std::uint64_t const at = in.position();
        std::uint64_t x = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            std::uint64_t const byte = in.number<std::uint8_t>(field.c_str());
            if (shift == 63 && byte > 1) break;
            x |= (byte & 0x7F) << shift;
            if (byte < 0x80) return x;
        }
        throw FormatError(at, field, "has a number that does not fit 64 bits");
    }

    std::size_t elements_ = 0;
};

}  // namespace rowan::inline v0::detail
