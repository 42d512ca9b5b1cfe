// rowan/io/op_desc_inl.hpp: definitions of rowan/io/op_desc.hpp.
#pragma once

#include <rowan/io/op_desc.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0 {

ROWAN_FUNCTION std::string to_string(OpDesc const& desc) {
    std::string text;
    detail::append_slots(text, desc.outputs);
    text.append(desc.outputs.empty() ? "" : " = ").append(desc.type).append("(");
    detail::append_slots(text, desc.inputs);
    text.append(")");
    char const* comma = " {";
    for (Attribute const& a : desc.attrs) {
        text.append(comma).append(to_string(a));
        comma = ", ";
    }
    if (!desc.attrs.empty()) text.append("}");
    return desc.is_target ? text.append(", target") : text;
}

}  // namespace rowan::inline v0

#endif
