// rowan/io/detail/naming_file_inl.hpp: the functions of naming_file.hpp.
#pragma once

#include <rowan/io/detail/naming_file.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string reason_of(FormatError const& error) {
    std::string const what = error.what(),  // `byte offset: field reason`
        head = std::string("byte ").append(std::to_string(error.offset())).append(": ").append(error.field());
    return what.starts_with(head + " ") ? what.substr(head.size() + 1) : what;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE FormatError error_in(std::string const& path, FormatError const& error) {
    if (error.field() == path) return error;  // it names the file already
    return {error.offset(), std::string(path).append(": ").append(error.field()), reason_of(error)};
}

}  // namespace rowan::inline v0::detail

#endif
