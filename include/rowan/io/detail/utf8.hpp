// rowan/io/detail/utf8.hpp: invalid_utf8, which validates UTF-8.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <string_view>

namespace rowan::inline v0::detail {

/// The position of the first invalid sequence: a stray or missing continuation byte, an overlong encoding, a surrogate,
/// or a code point above U+10FFFF. text.size() if `text` is valid.
ROWAN_IF_CALLED std::size_t invalid_utf8(std::string_view text) noexcept;

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/utf8_inl.hpp>
