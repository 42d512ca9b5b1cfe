// rowan/io/detail/wire.hpp: WireCheck, which validates the bytes of a protobuf message before they are decoded.
#pragma once

#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/utf8.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

/// The encoding of a field's value.
enum class wire_kind : std::uint8_t { int32, int64, boolean, fixed32, fixed64, text, message };

/// The type of one value of a field: the element type of a list, the value type of an optional.
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

/// Specialised for every struct that is a message; see ROWAN_MESSAGE in detail/nanopb.hpp.
template <class T>
struct message;

/// A struct that makes a number or text a distinct type: it is encoded as its only member, `value`.
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

/// One value as encoded.
struct WireValue {
    std::uint64_t offset;
    std::string const& field;
    std::int64_t number = 0;     ///< for integers, enumerations and bool
    std::string_view text = {};  ///< for texts

    ROWAN_IF_CALLED [[noreturn]] void refuse(std::string const& reason) const;

    /// errors   FormatError unless the text is a name: not empty, at most 4 KiB, no NUL
    void name() const {
        if (text.empty()) refuse("is empty, expected a name");
        name_or_none();
    }
    void name_or_none() const {
        if (text.size() > 4096) refuse("is a name of " + std::to_string(text.size()) + " bytes, more than 4096");
        if (text.find('\0') != text.npos) refuse("has the byte 0 at position " + std::to_string(text.find('\0')));
    }
};

/// The number of occurrences of each field of a message, and its last number, by the field's index in the list.
struct WireSeen {
    static constexpr std::size_t max_fields = 20;

    std::uint64_t offset;
    std::string_view name;
    std::array<std::size_t, max_fields> count{};
    std::array<std::int64_t, max_fields> number{};

    ROWAN_IF_CALLED [[noreturn]] void refuse(std::string const& field, std::string const& reason) const;
};

struct WireMessage;

struct WireField {
    std::string_view name;
    std::uint32_t tag;
    bool required, repeated;
    wire_kind kind;
    WireMessage const* message;  ///< its message type, or nullptr
    std::size_t bytes;           ///< of an element of a list in memory; 0 for other fields, which their message has
};

/// The fields of a message type and its rules.
struct WireMessage {
    std::string_view name;
    std::span<WireField const> fields;
    void (*check_value)(WireValue const&, std::uint32_t tag);
    void (*check_all)(WireSeen const&);
};

/// The rules for a message beyond the types of its fields: for each value, for the set of fields that are present, and
/// for the decoded struct.
struct NoRules {
    static void value(WireValue const&, std::uint32_t) {}
    static void all(WireSeen const&) {}
    template <class T>
    static void whole(T const&, std::uint64_t, std::string const&) {}
};
template <class T>
struct message_rules : NoRules {};

/// Validates the bytes of a message and of its nested messages.
class WireCheck {
public:
    static constexpr std::size_t max_bytes = std::size_t{64} << 20;
    static constexpr std::size_t max_elements = std::size_t{1} << 20;

    /// errors   FormatError unless every known field has its wire type, a valid length, a number in range and valid
    ///          UTF-8; singular fields occur at most once and required fields are present; there are no groups, and at
    ///          most 64 MiB and 2^20 values, including unknown fields, that use at most 7 times the memory of
    ///          the bytes, and 1 MiB, and `more_memory`
    void run(WireMessage const& message, std::span<std::byte const> bytes, std::uint64_t offset,
             std::int64_t more_memory);

    /// Checks the bytes likewise, except their memory. Returns how many bytes, at least, to append for run to accept.
    ROWAN_IF_CALLED std::size_t missing(WireMessage const& message, std::span<std::byte const> bytes,
                                        std::int64_t more_memory);

    using Counts = std::array<std::size_t, WireSeen::max_fields>;
    /// The number of elements of each list of a message, by the field's index. Nested messages are not read.
    static Counts count(WireMessage const& message, std::span<std::byte const> bytes);

private:
    static constexpr std::uint32_t varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5;

    ROWAN_IF_CALLED void walk(WireMessage const& message, std::span<std::byte const> bytes, std::uint64_t offset);

    void value(WireMessage const& message, WireField const& field, ByteReader& in, std::string const& name,
               std::int64_t& last);

    ROWAN_IF_CALLED static void skip(ByteReader& in, std::string const& field, std::uint32_t type);

    ROWAN_IF_CALLED void spend(std::uint64_t at, std::string const& field);
    ROWAN_IF_CALLED void use_memory(std::uint64_t at, std::string const& field, std::uint64_t bytes);

    ROWAN_IF_CALLED static std::uint32_t wire_type(wire_kind kind);

    /// Reads a varint, 7 bits per byte.
    static std::uint64_t number(ByteReader& in, std::string const& field);

    ROWAN_IF_CALLED static std::int64_t most_memory(std::size_t bytes, std::int64_t more_memory);

    static constexpr std::int64_t per_byte = 7;
    static constexpr std::size_t block = 16;  // what an allocation uses beyond its size

    std::size_t elements_ = 0;
    std::int64_t memory_ = 0, most_ = 0;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/wire_inl.hpp>
