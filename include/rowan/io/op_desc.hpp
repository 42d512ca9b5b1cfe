// rowan/io/op_desc.hpp: OpDesc, an operator as a protobuf message: type, inputs, outputs and attributes.
#pragma once

#include <rowan/io/attribute.hpp>
#include <rowan/io/message.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace rowan::inline v0 {

/// An operator. Names are unique among its input slots, among its output slots and among its attributes.
struct OpDesc {
    /// A slot and its variables. An empty name stands for no variable.
    struct Var {
        std::string parameter{};               ///< the slot's name
        std::vector<std::string> arguments{};  ///< names of variables

        friend bool operator==(Var const&, Var const&) = default;
    };

    /// The slots with their variables.
    std::vector<Var> inputs{}, outputs{};
    std::string type{};              ///< the operator's name
    std::vector<Attribute> attrs{};  ///< in any order
    bool is_target = false;          ///< the program is run for this operator

    friend bool operator==(OpDesc const&, OpDesc const&) = default;
};

namespace detail {

template <>
inline constexpr bool is_descriptor<OpDesc> = true;

}  // namespace detail

/// The operator as text: "Out=h = fc(X=x, W=w_0) {size: 3}".
/// errors   none
/// cost     O(length of the text)
std::string to_string(OpDesc const& desc);

std::ostream& operator<<(std::ostream& out, OpDesc const& desc);

}  // namespace rowan::inline v0

#include <rowan/io/op_desc_inl.hpp>
