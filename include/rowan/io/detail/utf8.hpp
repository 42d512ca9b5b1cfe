// rowan/io/detail/utf8.hpp: is a text valid UTF-8?
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <string_view>

namespace rowan::inline v0::detail {

/// Where the first bytes are that are no UTF-8: a stray or missing continuation, a longer form than needed, a surrogate, a number above
/// 10FFFF. text.size() if there are none.
std::size_t invalid_utf8(std::string_view text) noexcept;

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/utf8_inl.hpp>
