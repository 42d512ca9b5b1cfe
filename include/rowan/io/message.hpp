// rowan/io/message.hpp: encode and decode, which convert descriptors to and from protobuf messages.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#ifdef ROWAN_COMPILED
extern "C" {
extern char const rowan_needs_io_o__see_README;  // compiled/io.cpp defines it
[[gnu::used, gnu::visibility("hidden")]] inline char const* const rowan_io_o = &rowan_needs_io_o__see_README;
}
#endif

namespace rowan::inline v0 {

namespace detail {

/// Whether it is the description of a tensor, a variable, an operator, a block or a program.
template <class T>
inline constexpr bool is_descriptor = false;
template <class T>
concept descriptor = is_descriptor<T>;

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
Desc decode(std::span<std::byte const> bytes, std::uint64_t offset = 0, std::int64_t more_memory = 0);

/// Encodes a descriptor. Equal descriptors are encoded as the same bytes: fields in the order of their numbers, lists
/// unpacked, an optional field only if it differs from that of a default-constructed descriptor.
/// A descriptor that needs more memory than `decode` may use for its bytes, as of many short names, is followed by an
/// unknown field of zeros, whose bytes make up for it.
/// errors   FormatError if `decode` would throw for the bytes and `more_memory`; its offset refers to these bytes,
///          which are not returned
/// cost     two passes to encode, one for the size and one for the bytes, one over them, and one call of decode
template <detail::descriptor Desc>
std::vector<std::byte> encode(Desc const& desc, std::int64_t more_memory = 0);

}  // namespace rowan::inline v0

#include <rowan/io/message_inl.hpp>
