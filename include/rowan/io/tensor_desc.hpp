// rowan/io/tensor_desc.hpp: TensorDesc and LodTensorDesc, element type and dims of a tensor as a protobuf message.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/io/message.hpp>
#include <rowan/op/var_spec.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
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

template <>
inline constexpr bool is_descriptor<TensorDesc> = true;
template <>
inline constexpr bool is_descriptor<LodTensorDesc> = true;

/// "f32"; "rows of int8"; "element type 1000" for a user-defined type; "" for an invalid number.
std::string data_type_text(std::int32_t data_type);

}  // namespace detail

/// The descriptor as text: "f32[UNK, 640, 480]".
/// errors   none
/// cost     O(length of the text)
std::string to_string(TensorDesc const& desc);

/// The descriptor as text: "i64[UNK], 2 levels".
/// errors   none
/// cost     O(length of the text)
std::string to_string(LodTensorDesc const& desc);

std::ostream& operator<<(std::ostream& out, TensorDesc const& desc);
std::ostream& operator<<(std::ostream& out, LodTensorDesc const& desc);

}  // namespace rowan::inline v0

#include <rowan/io/tensor_desc_inl.hpp>
