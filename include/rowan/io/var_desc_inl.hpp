// rowan/io/var_desc_inl.hpp: definitions of rowan/io/var_desc.hpp.
#pragma once

#include <rowan/io/var_desc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <utility>

namespace rowan::inline v0 {

ROWAN_FUNCTION VarDesc describe(std::string name, VarSpec const& spec, bool persistable) {
    VarDesc desc{.name = std::move(name), .type = spec.type, .persistable = persistable};
    LodTensorDesc value{.tensor = {spec.dtype, {spec.dims.begin(), spec.dims.end()}},
                        .lod_level = static_cast<std::int32_t>(spec.lod_level)};
    if (spec.type == VarType::LOD_TENSOR) desc.lod_desc = std::move(value);
    if (spec.type == VarType::SELECTED_ROWS) desc.selected_rows_desc = std::move(value.tensor);
    if (spec.type == VarType::TENSOR_ARRAY) desc.tensor_array_desc = std::move(value);
    return desc;
}

ROWAN_FUNCTION VarSpec spec_of(VarDesc const& desc) {
    if (desc.type == VarType::STEP_SCOPES)
        return {.type = desc.type, .dtype = dtype<float>::wire, .dims = {}, .lod_level = 0};
    TensorDesc const* const tensor = desc.lod_desc             ? &desc.lod_desc->tensor
                                     : desc.selected_rows_desc ? &*desc.selected_rows_desc
                                     : desc.tensor_array_desc  ? &desc.tensor_array_desc->tensor
                                                               : nullptr;
    if (tensor == nullptr)
        throw GraphError(std::string("the variable \"").append(desc.name).append("\" has no description of its value"));
    VarSpec spec{.type = desc.type, .dtype = tensor->data_type, .dims = {}, .lod_level = 0};
    for (std::int64_t const dim : tensor->dims) spec.dims.push_back(dim);
    if (desc.lod_desc) spec.lod_level = static_cast<std::size_t>(desc.lod_desc->lod_level);
    if (desc.tensor_array_desc) spec.lod_level = static_cast<std::size_t>(desc.tensor_array_desc->lod_level);
    return spec;
}

ROWAN_FUNCTION std::string to_string(VarDesc const& desc) {
    std::string text = detail::var_type_text(static_cast<std::int64_t>(desc.type)).append(" ").append(desc.name);
    if (desc.lod_desc) text.append(": ").append(to_string(*desc.lod_desc));
    if (desc.selected_rows_desc) text.append(": ").append(to_string(*desc.selected_rows_desc));
    if (desc.tensor_array_desc) text.append(": ").append(to_string(*desc.tensor_array_desc));
    return desc.persistable ? text.append(", persistable") : text;
}

}  // namespace rowan::inline v0

#endif
