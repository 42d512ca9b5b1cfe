// rowan/train/detail/check_fits.hpp: check_fits, whether a value may be fed to a variable.
#pragma once

#include <rowan/graph/scope.hpp>

#include <cstdint>
#include <string>

namespace rowan::inline v0::detail {

/// Checks that a value matches the declaration of its variable.
/// errors   TypeError if kind or element type differ; ShapeError if the rank, a known dim or the number of levels
///          differ
void check_fits(Variable const& v, Value const& value);

/// Throws a GraphError: that the result of so many steps has no state of this name.
[[noreturn]] void no_state(std::string const& name, std::int64_t steps);

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/check_fits_inl.hpp>
