// rowan/io/dlpack_inl.hpp: definitions of rowan/io/dlpack.hpp.
#pragma once

#include <rowan/io/dlpack.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string dlpack_type_text(int code, int bits, int lanes) {
    static constexpr std::array<char const*, 7> names{"int", "uint", "float", nullptr, "bfloat", "complex", "bool"};
    std::string const kind = code >= 0 && code < 7 && names[static_cast<std::size_t>(code)] != nullptr
                                 ? names[static_cast<std::size_t>(code)]
                                 : "type " + std::to_string(code) + ", bits ";
    return kind + std::to_string(bits) + (lanes == 1 ? "" : ", " + std::to_string(lanes) + " lanes");
}

}  // namespace rowan::inline v0::detail

#endif
