// rowan/io/tensor_desc.hpp: TensorDesc and LodTensorDesc, element type and dims of a tensor as a protobuf message.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/io/message.hpp>
#include <rowan/op/var_spec.hpp>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

/// Element type and dims, encoded like Paddle's TensorDesc.
struct TensorDesc {
    std::int32_t data_type = dtype<float>::wire;  ///< dtype<T>::wire
    std::vector<std::int64_t> dims{};             ///< UNK if a dim is not known

    friend bool operator==(TensorDesc const&, TensorDesc const&) = default;
};

/// A tensor whose rows form sequences at `lod_level` levels.
struct LodTensorDesc {
    TensorDesc tensor{};         ///< element type and dims
    std::int32_t lod_level = 0;  ///< number of levels of sequences

    friend bool operator==(LodTensorDesc const&, LodTensorDesc const&) = default;
};

namespace detail {

struct DataType {
    std::int32_t number;
    std::string_view name;
};

/// The element types with a fixed number in these messages. The numbers of user-defined types begin at 1000.
inline constexpr DataType data_types[] = {{0, "bool"},  {1, "i16"},  {2, "i32"},   {3, "i64"},      {4, "f16"},
                                          {5, "f32"},   {6, "f64"},  {19, "size"}, {20, "u8"},      {21, "i8"},
                                          {22, "bf16"}, {23, "c64"}, {24, "c128"}, {32, "f8_e4m3"}, {33, "f8_e5m2"},
                                          {36, "u16"},  {37, "u32"}, {38, "u64"}};

/// "f32"; "rows of int8"; "element type 1000" for a user-defined type; "" for an invalid number.
std::string data_type_text(std::int32_t data_type);

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

}  // namespace detail

/// The descriptor as text: "f32[UNK, 640, 480]".
/// errors   none
/// cost     O(length of the text)
std::string to_string(TensorDesc const& desc);

/// The descriptor as text: "i64[UNK], 2 levels".
/// errors   none
/// cost     O(length of the text)
std::string to_string(LodTensorDesc const& desc);

inline std::ostream& operator<<(std::ostream& out, TensorDesc const& desc) { return out << to_string(desc); }
inline std::ostream& operator<<(std::ostream& out, LodTensorDesc const& desc) { return out << to_string(desc); }

}  // namespace rowan::inline v0

#include <rowan/io/tensor_desc_inl.hpp>
