// rowan/graph/detail/kind_text_inl.hpp: definitions of rowan/graph/detail/kind_text.hpp.
#pragma once

#include <rowan/graph/detail/kind_text.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string kind_text(VarSpec const& spec) {
    if (spec.type == VarType::STRINGS) return kind_name<Strings>::text();
    char const* const kind = spec.type == VarType::SELECTED_ROWS  ? "SelectedRows<"
                             : spec.type == VarType::TENSOR_ARRAY ? "TensorArray<"
                             : spec.type == VarType::STEP_SCOPES  ? "StepScopes<"
                                                                  : "LoDTensor<";
    return std::string(kind).append(dtype_text(spec.dtype)).append(">");
}

}  // namespace rowan::inline v0::detail

#endif
