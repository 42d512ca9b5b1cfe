// rowan/io/op_desc.hpp: OpDesc, an operator as a protobuf message: type, inputs, outputs and attributes.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/attribute.hpp>
#include <rowan/io/message.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>
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
struct message_rules<OpDesc::Var> : NoRules {
    static void value(WireValue const& v, std::uint32_t tag) { tag == 1 ? v.name() : v.name_or_none(); }
};

template <>
struct message_rules<OpDesc> : NoRules {
    static void value(WireValue const& v, std::uint32_t tag) {
        if (tag == 3) v.name();
    }
    ROWAN_IF_CALLED static void whole(OpDesc const& op, std::uint64_t offset, std::string const& path);
};

#define ROWAN_FIELDS(X, T)               \
    X(T, REQUIRED, STRING, parameter, 1) \
    X(T, REPEATED, STRING, arguments, 2)
ROWAN_MESSAGE(OpDesc::Var, ROWAN_FIELDS)
#undef ROWAN_FIELDS

#define ROWAN_FIELDS(X, T)              \
    X(T, REPEATED, MESSAGE, inputs, 1)  \
    X(T, REPEATED, MESSAGE, outputs, 2) \
    X(T, REQUIRED, STRING, type, 3)     \
    X(T, REPEATED, MESSAGE, attrs, 4)   \
    X(T, OPTIONAL, BOOL, is_target, 5)
ROWAN_MESSAGE(OpDesc, ROWAN_FIELDS)
#undef ROWAN_FIELDS

inline void append_slots(std::string& text, std::vector<OpDesc::Var> const& slots) {
    char const* comma = "";
    for (auto const& slot : slots) {
        text.append(comma).append(slot.parameter).append("=");
        for (std::size_t i = 0; i < slot.arguments.size(); ++i)
            text.append(i == 0 ? "" : " ").append(slot.arguments[i].empty() ? "_" : slot.arguments[i]);
        comma = ", ";
    }
}

}  // namespace detail

/// The operator as text: "Out=h = fc(X=x, W=w_0) {size: 3}".
/// errors   none
/// cost     O(length of the text)
std::string to_string(OpDesc const& desc);

inline std::ostream& operator<<(std::ostream& out, OpDesc const& desc) { return out << to_string(desc); }

}  // namespace rowan::inline v0

#include <rowan/io/op_desc_inl.hpp>
