// rowan/io/message_inl.hpp: definitions of rowan/io/message.hpp.
#pragma once

#include <rowan/io/message.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void append_padding(std::vector<std::byte>& bytes, std::size_t count) {
    if (count == 0) return;
    pb_byte_t head[15];
    pb_ostream_t out = pb_ostream_from_buffer(head, sizeof head);
    if (!pb_encode_tag(&out, PB_WT_STRING, (1U << 29) - 1) || !pb_encode_varint(&out, count)) throw std::bad_alloc();
    auto const written = std::as_bytes(std::span(head, out.bytes_written));
    bytes.insert(bytes.end(), written.begin(), written.end());
    bytes.resize(bytes.size() + count);
}

}  // namespace rowan::inline v0::detail

#endif
