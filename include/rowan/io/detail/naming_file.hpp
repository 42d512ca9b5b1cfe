// rowan/io/detail/naming_file.hpp: naming_file, for errors of a file among several.
#pragma once

#include <rowan/core/error.hpp>

#include <string>

namespace rowan::inline v0::detail {

/// The text of an error, behind its place and field.
ROWAN_IF_CALLED std::string reason_of(FormatError const& error);

/// The error of a file among several, whose field then begins with the path.
ROWAN_IF_CALLED FormatError error_in(std::string const& path, FormatError const& error);

/// Calls f, which reads a file among several.
/// errors   those of f; a FormatError names the file
template <class F>
auto naming_file(std::string const& path, F const& f) -> decltype(f()) {
    try {
        return f();
    } catch (FormatError const& e) {
        if (e.field().starts_with(path)) throw;
        throw error_in(path, e);
    }
}

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/naming_file_inl.hpp>
