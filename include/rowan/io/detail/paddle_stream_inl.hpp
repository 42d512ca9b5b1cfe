// rowan/io/detail/paddle_stream_inl.hpp: definitions of rowan/io/detail/paddle_stream.hpp.
#pragma once

#include <rowan/io/detail/paddle_stream.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstring>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void check_paddle_lod(std::uint64_t position, TensorDesc const& desc, Lod const& lod) {
    if (lod.empty()) return;
    if (desc.dims.empty()) throw FormatError(position, "the value", "has no dims, but there are LoD levels");
    lod.check_rows(static_cast<std::size_t>(desc.dims[0]));
}

ROWAN_CALLED_FUNCTION void check_paddle_rows(std::uint64_t position, TensorDesc const& desc, std::size_t rows) {
    if (!desc.dims.empty() && desc.dims[0] == static_cast<std::int64_t>(rows)) return;
    throw FormatError(position, "the value",
                      "has " + (desc.dims.empty() ? std::string("no dims") : std::to_string(desc.dims[0]) + " rows") +
                          ", but " + std::to_string(rows) +
                          " rows are named; Paddle 1.x left more values than rows in tables that grew");
}

ROWAN_FUNCTION void PaddleParts::bytes(std::span<std::byte const> more) {
    std::size_t const at = head.size();
    head.resize(at + more.size());
    if (!more.empty()) std::memcpy(head.data() + at, more.data(), more.size());
}

}  // namespace rowan::inline v0::detail

#endif
