// rowan/io/var_desc.hpp: VarDesc, a variable as a protobuf message.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/message.hpp>
#include <rowan/io/tensor_desc.hpp>
#include <rowan/op/var_spec.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
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

inline std::ostream& operator<<(std::ostream& out, VarDesc const& desc) { return out << to_string(desc); }

}  // namespace rowan::inline v0

#include <rowan/io/var_desc_inl.hpp>
