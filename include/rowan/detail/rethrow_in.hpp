// rowan/detail/rethrow_in.hpp: rethrow_in, which adds to an error where it happened.
#pragma once

#include <rowan/core/error.hpp>

#include <string>

namespace rowan::inline v0::detail {

/// Rethrows the current exception. The field of an IndexError, ShapeError, TypeError or ValueError then begins with
/// `place`, such as "step 2: ids"; a LodError ends with it.
[[noreturn]] void rethrow_in(std::string place);

}  // namespace rowan::inline v0::detail

#include <rowan/detail/rethrow_in_inl.hpp>
