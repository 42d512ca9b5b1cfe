// rowan/io/var_desc_inl.hpp: definitions of rowan/io/var_desc.hpp.
#pragma once

#include <rowan/io/var_desc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/io/message_inl.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>

namespace rowan::inline v0::detail {

/// "SELECTED_ROWS"; "" for an invalid number.
inline std::string var_type_text(std::int64_t type) {
    constexpr std::array names{"LOD_TENSOR", "SELECTED_ROWS", "TENSOR_ARRAY", "STEP_SCOPES"};
    return type < 0 || type >= std::int64_t{names.size()} ? "" : names[static_cast<std::size_t>(type)];
}

template <>
struct message_rules<VarDesc> : NoRules {
    static void value(WireValue const& v, std::uint32_t tag) {
        if (tag == 1) v.name();
        if (tag == 2 && var_type_text(v.number).empty())
            v.refuse("is " + std::to_string(v.number) + ", which is not a kind of variable");
    }
    static void all(WireSeen const& seen) {
        std::int64_t const type = seen.number[1];
        auto const only = [&](std::size_t field, char const* name, VarType of) {
            if (seen.count[field] != 0 && type != static_cast<std::int64_t>(of)) {
                seen.refuse(name, "is present, but the variable is of type " + var_type_text(type));
            }
        };
        only(2, "lod_desc", VarType::LOD_TENSOR);
        only(3, "selected_rows_desc", VarType::SELECTED_ROWS);
        only(5, "tensor_array_desc", VarType::TENSOR_ARRAY);
    }
};

#define ROWAN_FIELDS(X, T)                         \
    X(T, REQUIRED, STRING, name, 1)                \
    X(T, REQUIRED, ENUM, type, 2)                  \
    X(T, OPTIONAL, MESSAGE, lod_desc, 3)           \
    X(T, OPTIONAL, MESSAGE, selected_rows_desc, 4) \
    X(T, OPTIONAL, BOOL, persistable, 5)           \
    X(T, OPTIONAL, MESSAGE, tensor_array_desc, 6)
ROWAN_MESSAGE(VarDesc, ROWAN_FIELDS)
#undef ROWAN_FIELDS

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE VarDesc describe(std::string name, VarSpec const& spec, bool persistable) {
    VarDesc desc{.name = std::move(name), .type = spec.type, .persistable = persistable};
    LodTensorDesc value{.tensor = {spec.dtype, {spec.dims.begin(), spec.dims.end()}},
                        .lod_level = static_cast<std::int32_t>(spec.lod_level)};
    if (spec.type == VarType::LOD_TENSOR) desc.lod_desc = std::move(value);
    if (spec.type == VarType::SELECTED_ROWS) desc.selected_rows_desc = std::move(value.tensor);
    if (spec.type == VarType::TENSOR_ARRAY) desc.tensor_array_desc = std::move(value);
    return desc;
}

ROWAN_FUNCTION ROWAN_RARE VarSpec spec_of(VarDesc const& desc) {
    if (desc.type == VarType::STEP_SCOPES)
        return {.type = desc.type, .dtype = dtype<float>::wire, .dims = {}, .lod_level = 0};
    TensorDesc const* const tensor = desc.lod_desc             ? &desc.lod_desc->tensor
                                     : desc.selected_rows_desc ? &*desc.selected_rows_desc
                                     : desc.tensor_array_desc  ? &desc.tensor_array_desc->tensor
                                                               : nullptr;
    if (tensor == nullptr) throw GraphError({"the variable \"", desc.name, "\" has no description of its value"});
    VarSpec spec{.type = desc.type, .dtype = tensor->data_type, .dims = {}, .lod_level = 0};
    for (std::int64_t const dim : tensor->dims) spec.dims.push_back(dim);
    if (desc.lod_desc) spec.lod_level = static_cast<std::size_t>(desc.lod_desc->lod_level);
    if (desc.tensor_array_desc) spec.lod_level = static_cast<std::size_t>(desc.tensor_array_desc->lod_level);
    return spec;
}

ROWAN_FUNCTION ROWAN_RARE std::string to_string(VarDesc const& desc) {
    std::string text = detail::var_type_text(static_cast<std::int64_t>(desc.type)).append(" ").append(desc.name);
    if (desc.lod_desc) text.append(": ").append(to_string(*desc.lod_desc));
    if (desc.selected_rows_desc) text.append(": ").append(to_string(*desc.selected_rows_desc));
    if (desc.tensor_array_desc) text.append(": ").append(to_string(*desc.tensor_array_desc));
    return desc.persistable ? text.append(", persistable") : text;
}

ROWAN_FUNCTION ROWAN_RARE std::ostream& operator<<(std::ostream& out, VarDesc const& desc) {
    return out << to_string(desc);
}

ROWAN_DESCRIPTOR(VarDesc)

}  // namespace rowan::inline v0

#endif
