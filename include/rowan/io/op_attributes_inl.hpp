// rowan/io/op_attributes_inl.hpp: definitions of rowan/io/op_attributes.hpp.
#pragma once

#include <rowan/io/op_attributes.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ROWAN_RARE Attribute const* find_attribute(std::span<Attribute const> list, std::string_view name) {
    for (Attribute const& a : list) {
        if (a.name == name) return &a;
    }
    return nullptr;
}

ROWAN_FUNCTION ROWAN_RARE void bad_attribute(OpDesc const& op, std::string_view name, std::string_view what) {
    throw GraphError({"operator ", op.type, ": its attribute ", name, " ", what});
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_attributes(OpDesc const& op, std::span<std::string_view const> known) {
    for (Attribute const& a : op.attrs) {
        if (std::ranges::find(known, a.name) == known.end()) bad_attribute(op, a.name, "is unknown to it");
    }
}

}  // namespace rowan::inline v0::detail

#endif
