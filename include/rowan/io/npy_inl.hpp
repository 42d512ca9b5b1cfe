// rowan/io/npy_inl.hpp: definitions of rowan/io/npy.hpp.
#pragma once

#include <rowan/io/npy.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0 {

ROWAN_FUNCTION NpyHeader describe_npy(std::string const& path) {
    detail::InputFile const file(path);
    detail::FileReader in(file);
    return detail::read_npy_header(in);
}

}  // namespace rowan::inline v0

#endif
