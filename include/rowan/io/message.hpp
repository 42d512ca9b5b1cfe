// rowan/io/message.hpp: encode and decode, which convert descriptors to and from protobuf messages.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/detail/nanopb.hpp>
#include <rowan/io/detail/wire.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// A struct that is encoded as another struct, its fields_type.
template <class T>
concept converted = requires {
    typename message<T>::fields_type;
};
template <class T>
concept descriptor = !converted<T> && requires {
    message<T>::descriptor;
};

// Reading: the bytes have been validated, so only an allocation can fail.

/// Reserves the lists of a message, so that they do not grow, for which they would need up to 3 times their size.
template <class T>
void reserve_lists(std::span<std::byte const> bytes, T& x) {
    auto const counts = WireCheck::count(message<T>::wire, bytes);
    for (std::size_t i = 0; i < message<T>::wire.fields.size(); ++i) {
        if (counts[i] == 0) continue;
        message<T>::visit(x, static_cast<pb_size_t>(message<T>::fields[i].tag), [&](auto& member) {
            if constexpr (requires { member.reserve(counts[i]); }) member.reserve(counts[i]);
            return true;
        });
    }
}

template <class T>
bool read_value(pb_istream_t* in, T& x) {
    if constexpr (converted<T>) {
        typename message<T>::fields_type fields;
        if (!read_value(in, fields)) return false;
        x = message<T>::from_fields(std::move(fields));
        return true;
    } else if constexpr (descriptor<T>) {
        reserve_lists({static_cast<std::byte const*>(in->state), in->bytes_left}, x);
        return pb_decode(in, &message<T>::descriptor, &x);
    } else if constexpr (std::is_same_v<T, std::string>) {
        x.resize(in->bytes_left);
        return pb_read(in, reinterpret_cast<pb_byte_t*>(x.data()), x.size());
    } else if constexpr (wrapped<T>) {
        return read_value(in, x.value);
    } else if constexpr (std::is_floating_point_v<T>) {
        return sizeof x == 4 ? pb_decode_fixed32(in, &x) : pb_decode_fixed64(in, &x);
    } else {
        std::uint64_t number = 0;
        bool const good = pb_decode_varint(in, &number);
        x = static_cast<T>(number);
        return good;
    }
}

template <class T>
bool read_field(pb_istream_t* in, T& x) {
    return read_value(in, x);
}
template <class T>
bool read_field(pb_istream_t* in, std::optional<T>& x) {
    return read_value(in, x.emplace());
}
template <class T>
bool read_field(pb_istream_t* in, std::vector<T>& list) {
    constexpr wire_kind kind = wire_kind_of<T>();
    constexpr bool packable = kind != wire_kind::text && kind != wire_kind::message;
    while (!packable || in->bytes_left != 0) {
        T x{};
        if (!read_value(in, x)) return false;
        list.push_back(std::move(x));
        if (!packable) break;
    }
    return true;
}

/// Returns whether the member with the number `tag` has the value that it has in a default-constructed T.
template <class T, class Member>
bool is_fresh(Member const& member, pb_size_t tag) {
    T const fresh{};
    bool same = false;
    message<T>::visit(fresh, tag, [&](auto const& other) {
        if constexpr (std::is_same_v<decltype(other), Member const&>) same = other == member;
        return true;
    });
    return same;
}

template <class T>
bool write_value(pb_ostream_t* out, pb_field_iter_t const* field, T const& x) {
    if constexpr (converted<T>) {
        return write_value(out, field, message<T>::to_fields(x));
    } else if constexpr (descriptor<T>) {
        return pb_encode_tag(out, PB_WT_STRING, field->tag) && pb_encode_submessage(out, &message<T>::descriptor, &x);
    } else if constexpr (std::is_same_v<T, std::string>) {
        return pb_encode_tag(out, PB_WT_STRING, field->tag) &&
               pb_encode_string(out, reinterpret_cast<pb_byte_t const*>(x.data()), x.size());
    } else if constexpr (wrapped<T>) {
        return write_value(out, field, x.value);
    } else if constexpr (std::is_same_v<T, float>) {
        return pb_encode_tag(out, PB_WT_32BIT, field->tag) && pb_encode_fixed32(out, &x);
    } else if constexpr (std::is_same_v<T, double>) {
        return pb_encode_tag(out, PB_WT_64BIT, field->tag) && pb_encode_fixed64(out, &x);
    } else {
        return pb_encode_tag(out, PB_WT_VARINT, field->tag) &&
               pb_encode_varint(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(x)));
    }
}

template <class T>
bool write_field(pb_ostream_t* out, pb_field_iter_t const* field, T const& x) {
    return write_value(out, field, x);
}
template <class T>
bool write_field(pb_ostream_t* out, pb_field_iter_t const* field, std::optional<T> const& x) {
    return !x || write_value(out, field, *x);
}
template <class T>
bool write_field(pb_ostream_t* out, pb_field_iter_t const* field, std::vector<T> const& list) {
    for (T const& x : list) {
        if (!write_value(out, field, x)) return false;
    }
    return true;
}

template <class T>
bool message_field(pb_istream_t* in, pb_ostream_t* out, pb_field_iter_t const* field) {
    try {
        if (in != nullptr) {
            auto& x = *static_cast<T*>(field->message);
            return message<T>::visit(x, field->tag, [&](auto& member) { return read_field(in, member); });
        }
        auto const& x = *static_cast<T const*>(field->message);
        return message<T>::visit(x, field->tag, [&](auto const& member) {
            if constexpr (!requires { member.has_value(); }) {
                if (PB_HTYPE(field->type) == PB_HTYPE_OPTIONAL && is_fresh<T>(member, field->tag)) return true;
            }
            return write_field(out, field, member);
        });
    } catch (...) {  // exceptions must not propagate through C code
        return false;
    }
}

/// Appends field 2^29 - 1, which no message has, with `count` zeros, unless count is 0.
ROWAN_IF_CALLED void append_padding(std::vector<std::byte>& bytes, std::size_t count);

}  // namespace detail

/// Decodes a descriptor from the bytes of a protobuf message. Unknown fields are ignored; lists of numbers may be
/// packed. `offset` is the position of the bytes in their file, for error messages. The descriptor uses at most 7
/// times as many bytes as the message, and 1 MiB, and `more_memory`, which may be negative.
/// errors   FormatError if the bytes are not such a message; a required field is missing or a singular field occurs
///          twice; a field has another wire type, or a number that is out of range or not in its enumeration; a text is
///          not UTF-8; a name is empty, longer than 4 KiB or contains NUL; fields are inconsistent with each other;
///          there are more than 64 MiB or 2^20 values; the descriptor would use more memory
/// cost     two passes over the bytes, and one over the sizes of their fields
template <detail::descriptor Desc>
Desc decode(std::span<std::byte const> bytes, std::uint64_t offset = 0, std::int64_t more_memory = 0) {
    detail::WireCheck().run(detail::message<Desc>::wire, bytes, offset, more_memory);
    Desc desc;
    pb_istream_t in = pb_istream_from_buffer(reinterpret_cast<pb_byte_t const*>(bytes.data()), bytes.size());
    if (!detail::read_value(&in, desc)) throw std::bad_alloc();  // only an allocation can fail here
    detail::message_rules<Desc>::whole(desc, offset, std::string(detail::message<Desc>::wire.name));
    return desc;
}

/// Encodes a descriptor. Equal descriptors are encoded as the same bytes: fields in the order of their numbers, lists
/// unpacked, an optional field only if it differs from that of a default-constructed descriptor.
/// A descriptor that needs more memory than `decode` may use for its bytes, as of many short names, is followed by an
/// unknown field of zeros, whose bytes make up for it.
/// errors   FormatError if `decode` would throw for the bytes and `more_memory`; its offset refers to these bytes,
///          which are not returned
/// cost     two passes to encode, one for the size and one for the bytes, one over them, and one call of decode
template <detail::descriptor Desc>
std::vector<std::byte> encode(Desc const& desc, std::int64_t more_memory = 0) {
    auto const* const fields = &detail::message<Desc>::descriptor;
    std::vector<std::byte> bytes;
    auto const encode_to = [&](pb_ostream_t out) {
        if (!pb_encode(&out, fields, &desc)) throw std::bad_alloc();
        return out.bytes_written;
    };
    bytes.resize(encode_to(PB_OSTREAM_SIZING));
    encode_to(pb_ostream_from_buffer(reinterpret_cast<pb_byte_t*>(bytes.data()), bytes.size()));
    detail::append_padding(bytes, detail::WireCheck().missing(detail::message<Desc>::wire, bytes, more_memory));
    static_cast<void>(decode<Desc>(bytes, 0, more_memory));
    return bytes;
}

}  // namespace rowan::inline v0

#include <rowan/io/message_inl.hpp>
