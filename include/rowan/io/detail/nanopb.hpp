// rowan/io/detail/nanopb.hpp: nanopb, and ROWAN_MESSAGE, which makes a struct a message without a generator.
#pragma once

#include <rowan/core/detail/config.hpp>

#if __has_include(<nanopb/pb.h>)
#include <nanopb/pb.h>
#include <nanopb/pb_decode.h>
#include <nanopb/pb_encode.h>
#else
#if !__has_include(<pb.h>)
#error "rowan: descriptors need nanopb (in Debian libnanopb-dev): install it and link rowan::nanopb"
#endif
#include <pb.h>
#include <pb_decode.h>
#include <pb_encode.h>
#endif

#if PB_PROTO_HEADER_VERSION != 40
#error "rowan: descriptors need nanopb 0.4"
#endif
#if defined(PB_FIELD_32BIT) || defined(PB_NO_ERRMSG) || defined(PB_BUFFER_ONLY) || defined(PB_WITHOUT_64BIT)
#error \
    "rowan: nanopb must be used without PB_FIELD_32BIT, PB_NO_ERRMSG, PB_BUFFER_ONLY and PB_WITHOUT_64BIT, which change its library"
#endif
#ifdef PB_ENABLE_MALLOC
#error "rowan: nanopb must be used without PB_ENABLE_MALLOC"
#endif

#include <rowan/io/detail/wire.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace rowan::inline v0::detail {

/// Reads or writes one field: the callback of nanopb. Defined in rowan/io/message_inl.hpp.
template <class T>
bool message_field(pb_istream_t* in, pb_ostream_t* out, pb_field_iter_t const* field);

/// The message type of a member, or of the elements of a list, for nanopb and for WireCheck; otherwise nullptr.
template <class Member>
constexpr pb_msgdesc_t const* submessage() {
    if constexpr (wire_kind_of<Member>() == wire_kind::message) {
        return &message<wire_value_t<Member>>::descriptor;
    } else {
        return nullptr;
    }
}
template <class Member>
constexpr WireMessage const* wire_submessage() {
    if constexpr (wire_kind_of<Member>() == wire_kind::message) {
        return &message<wire_value_t<Member>>::wire;
    } else {
        return nullptr;
    }
}

/// The message types of the fields that are messages, in their order, followed by null pointers.
template <std::size_t n>
constexpr std::array<pb_msgdesc_t const*, n + 1> present(WireField const (&fields)[n],
                                                         pb_msgdesc_t const* const (&messages)[n]) {
    std::array<pb_msgdesc_t const*, n + 1> all{};
    std::size_t end = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (fields[i].kind == wire_kind::message) all[end++] = messages[i];
    }
    return all;
}

/// The bytes of memory that an element of a list uses, including its place in the search for equal names.
template <class T>
constexpr std::size_t memory_of() {
    return sizeof(T) + (wire_kind_of<T>() == wire_kind::message ? sizeof(void*) : 0);
}

constexpr pb_size_t required_fields(std::span<WireField const> fields) {
    pb_size_t n = 0;
    for (auto const& field : fields) n = static_cast<pb_size_t>(n + field.required);
    return n;
}

}  // namespace rowan::inline v0::detail

// The expansion of one field in each part of a message. A field is (struct, REQUIRED or OPTIONAL or REPEATED, protobuf
// type, member, number).
#define ROWAN_FIELD_INFO(T, rule, type, member, number) PB_GEN_FIELD_INFO_AUTO(T, CALLBACK, rule, type, member, number)
#define ROWAN_FIELD_ASSERT(T, rule, type, member, number) \
    PB_GEN_FIELD_INFO_ASSERT_AUTO(T, CALLBACK, rule, type, member, number)
#define ROWAN_FIELD_MESSAGE(T, rule, type, member, number) submessage<decltype(T::member)>(),
#define ROWAN_FIELD_WIRE(T, rule, type, member, number) \
    WireField{#member,                                  \
              number,                                   \
              PB_HTYPE_##rule == PB_HTYPE_REQUIRED,     \
              PB_HTYPE_##rule == PB_HTYPE_REPEATED,     \
              wire_kind_of<decltype(T::member)>(),      \
              wire_submessage<decltype(T::member)>(),   \
              PB_HTYPE_##rule == PB_HTYPE_REPEATED ? memory_of<wire_value_t<decltype(T::member)>>() : 0},
#define ROWAN_FIELD_VISIT(T, rule, type, member, number) \
    case number:                                         \
        return f(x.member);

/// Makes the struct T a message. FIELDS(X, T) lists its fields in ascending order of their numbers. To be used in
/// namespace rowan::v0::detail.
#define ROWAN_MESSAGE(T, FIELDS)                                                                             \
    template <>                                                                                              \
    struct message<T> {                                                                                      \
        static constexpr WireField fields[]{FIELDS(ROWAN_FIELD_WIRE, T)};                                    \
        static_assert(std::size(fields) <= WireSeen::max_fields && std::end(fields)[-1].tag <= PB_SIZE_MAX); \
        static constexpr WireMessage wire{#T, fields, message_rules<T>::value, message_rules<T>::all};       \
        static constexpr std::uint32_t info[] = {FIELDS(ROWAN_FIELD_INFO, T) 0};                             \
        static constexpr auto messages = present(fields, {FIELDS(ROWAN_FIELD_MESSAGE, T)});                  \
        static constexpr pb_msgdesc_t descriptor{info,                                                       \
                                                 messages.data(),                                            \
                                                 nullptr,                                                    \
                                                 message_field<T>,                                           \
                                                 std::size(fields),                                          \
                                                 required_fields(fields),                                    \
                                                 static_cast<pb_size_t>(std::end(fields)[-1].tag)};          \
        FIELDS(ROWAN_FIELD_ASSERT, T)                                                                        \
        /* calls f with the member whose number is `tag` */                                                  \
        template <class X, class F>                                                                          \
        static bool visit(X& x, pb_size_t tag, F const& f) {                                                 \
            switch (tag) { FIELDS(ROWAN_FIELD_VISIT, T) }                                                    \
            return true;                                                                                     \
        }                                                                                                    \
    };                                                                                                       \
    ROWAN_TEMPLATE(bool message_field<T>(pb_istream_t*, pb_ostream_t*, pb_field_iter_t const*))
