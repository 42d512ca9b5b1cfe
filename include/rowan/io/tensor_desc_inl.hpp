// rowan/io/tensor_desc_inl.hpp: definitions of rowan/io/tensor_desc.hpp.
#pragma once

#include <rowan/io/tensor_desc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/sparse/detail/stored_type.hpp>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::string data_type_text(std::int32_t data_type) {
    for (auto const& known : data_types) {
        if (known.number == data_type) return std::string(known.name);
    }
    if (is_row_type(data_type)) return "rows of " + std::string(format_name(format_of_type(data_type)));
    return data_type < 1000 ? "" : std::string("element type ").append(std::to_string(data_type));
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION std::string to_string(TensorDesc const& desc) {
    std::string text = detail::data_type_text(desc.data_type);
    char const* comma = "[";
    for (std::int64_t const dim : desc.dims) {
        text.append(comma).append(dim == UNK ? "UNK" : std::to_string(dim));
        comma = ", ";
    }
    return text.append(desc.dims.empty() ? "[]" : "]");
}

ROWAN_FUNCTION std::string to_string(LodTensorDesc const& desc) {
    std::string text = to_string(desc.tensor);
    if (desc.lod_level != 0)
        text.append(", ").append(std::to_string(desc.lod_level)).append(desc.lod_level == 1 ? " level" : " levels");
    return text;
}

}  // namespace rowan::inline v0

#endif
