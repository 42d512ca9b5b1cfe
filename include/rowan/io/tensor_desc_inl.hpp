// rowan/io/tensor_desc_inl.hpp: definitions of rowan/io/tensor_desc.hpp.
#pragma once

#include <rowan/io/tensor_desc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/message_inl.hpp>
#include <rowan/sparse/detail/stored_type.hpp>

#include <ostream>
#include <string_view>

namespace rowan::inline v0::detail {

struct DataType {
    std::int32_t number;
    std::string_view name;
};

/// The element types with a fixed number in these messages. The numbers of user-defined types begin at 1000.
inline constexpr DataType data_types[] = {{0, "bool"},  {1, "i16"},  {2, "i32"},   {3, "i64"},      {4, "f16"},
                                          {5, "f32"},   {6, "f64"},  {19, "size"}, {20, "u8"},      {21, "i8"},
                                          {22, "bf16"}, {23, "c64"}, {24, "c128"}, {32, "f8_e4m3"}, {33, "f8_e5m2"},
                                          {36, "u16"},  {37, "u32"}, {38, "u64"}};

template <>
struct message_rules<TensorDesc> : NoRules {
    static void value(WireValue const& v, std::uint32_t tag) {
        if (tag == 1 && data_type_text(static_cast<std::int32_t>(v.number)).empty()) {
            v.refuse("is " + std::to_string(v.number) +
                     ", which is not an element type; user-defined types have numbers from 1000 on");
        }
        if (tag == 2 && v.number < UNK) v.refuse("is " + std::to_string(v.number) + ", expected a count or -1");
    }
};

template <>
struct message_rules<LodTensorDesc> : NoRules {
    static void value(WireValue const& v, std::uint32_t tag) {
        if (tag == 2 && (v.number < 0 || v.number > 16))
            v.refuse("is " + std::to_string(v.number) + ", which is not in [0, 17)");
    }
};

#define ROWAN_FIELDS(X, T)              \
    X(T, REQUIRED, INT32, data_type, 1) \
    X(T, REPEATED, INT64, dims, 2)
ROWAN_MESSAGE(TensorDesc, ROWAN_FIELDS)
#undef ROWAN_FIELDS

#define ROWAN_FIELDS(X, T)             \
    X(T, REQUIRED, MESSAGE, tensor, 1) \
    X(T, OPTIONAL, INT32, lod_level, 2)
ROWAN_MESSAGE(LodTensorDesc, ROWAN_FIELDS)
#undef ROWAN_FIELDS

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ROWAN_RARE std::string data_type_text(std::int32_t data_type) {
    for (auto const& known : data_types) {
        if (known.number == data_type) return std::string(known.name);
    }
    if (is_row_type(data_type)) return "rows of " + std::string(format_name(format_of_type(data_type)));
    return data_type < 1000 ? "" : std::string("element type ").append(std::to_string(data_type));
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE std::string to_string(TensorDesc const& desc) {
    std::string text = detail::data_type_text(desc.data_type);
    char const* comma = "[";
    for (std::int64_t const dim : desc.dims) {
        text.append(comma).append(dim == UNK ? "UNK" : std::to_string(dim));
        comma = ", ";
    }
    return text.append(desc.dims.empty() ? "[]" : "]");
}

ROWAN_FUNCTION ROWAN_RARE std::string to_string(LodTensorDesc const& desc) {
    std::string text = to_string(desc.tensor);
    if (desc.lod_level != 0)
        text.append(", ").append(std::to_string(desc.lod_level)).append(desc.lod_level == 1 ? " level" : " levels");
    return text;
}

ROWAN_FUNCTION ROWAN_RARE std::ostream& operator<<(std::ostream& out, TensorDesc const& desc) {
    return out << to_string(desc);
}
ROWAN_FUNCTION ROWAN_RARE std::ostream& operator<<(std::ostream& out, LodTensorDesc const& desc) {
    return out << to_string(desc);
}

ROWAN_DESCRIPTOR(TensorDesc)
ROWAN_DESCRIPTOR(LodTensorDesc)

}  // namespace rowan::inline v0

#endif
