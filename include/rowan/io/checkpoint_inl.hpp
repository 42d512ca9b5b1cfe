// rowan/io/checkpoint_inl.hpp: definitions of rowan/io/checkpoint.hpp.
#pragma once

#include <rowan/io/checkpoint.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void CheckpointHead::text(std::span<std::byte const> bytes) {
    if (!std::in_range<std::uint32_t>(bytes.size()))
        throw FormatError(bytes_.size(), "descriptor", "has " + std::to_string(bytes.size()) + " bytes, 2^32 or more");
    number(static_cast<std::uint32_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

}  // namespace rowan::inline v0::detail

#endif
