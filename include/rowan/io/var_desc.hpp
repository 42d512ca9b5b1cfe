// rowan/io/var_desc.hpp: VarDesc, a variable as a protobuf message.
#pragma once

#include <rowan/io/message.hpp>
#include <rowan/io/tensor_desc.hpp>
#include <rowan/op/var_spec.hpp>

#include <iosfwd>
#include <optional>
#include <string>

namespace rowan::inline v0 {

/// A variable: its name, its kind, and a description of its value. Only the description for its kind may be present;
/// STEP_SCOPES has none.
struct VarDesc {
    std::string name{};                                ///< unique in its block
    VarType type = VarType::LOD_TENSOR;                ///< its kind
    std::optional<LodTensorDesc> lod_desc{};           ///< for a LOD_TENSOR
    std::optional<TensorDesc> selected_rows_desc{};    ///< for a SELECTED_ROWS; the first dim is the height
    std::optional<LodTensorDesc> tensor_array_desc{};  ///< for a TENSOR_ARRAY: one element
    bool persistable = false;                          ///< outlives a batch, as parameters do

    friend bool operator==(VarDesc const&, VarDesc const&) = default;
};

namespace detail {

template <>
inline constexpr bool is_descriptor<VarDesc> = true;

}  // namespace detail

/// Makes the descriptor of a variable.
/// errors   none
/// cost     O(dims)
VarDesc describe(std::string name, VarSpec const& spec, bool persistable = false);

/// The spec that a descriptor declares.
/// errors   GraphError if it has no description of its value; ShapeError if it has more than Dims::max_rank dims
/// cost     O(dims)
VarSpec spec_of(VarDesc const& desc);

/// The descriptor as text: "SELECTED_ROWS table_grad: f32[6, 3]", "LOD_TENSOR w: f32[6, 3], persistable".
/// errors   none
/// cost     O(length of the text)
std::string to_string(VarDesc const& desc);

std::ostream& operator<<(std::ostream& out, VarDesc const& desc);

}  // namespace rowan::inline v0

#include <rowan/io/var_desc_inl.hpp>
