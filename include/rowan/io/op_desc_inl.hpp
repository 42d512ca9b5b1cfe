// rowan/io/op_desc_inl.hpp: definitions of rowan/io/op_desc.hpp.
#pragma once

#include <rowan/io/op_desc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/io/message_inl.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <tuple>

namespace rowan::inline v0::detail {

template <>
struct message_rules<OpDesc::Var> : NoRules {
    static void value(WireValue const& v, std::uint32_t tag) { tag == 1 ? v.name() : v.name_or_none(); }
};

/// errors   FormatError if two elements of `list` have the same name
template <class T>
void check_names(std::vector<T> const& list, std::string T::*name, std::uint64_t offset, std::string const& path) {
    std::vector<T const*> sorted;
    sorted.reserve(list.size());
    for (T const& x : list) sorted.push_back(&x);
    auto const order = [&](T const* a, T const* b) { return std::tie(a->*name, a) < std::tie(b->*name, b); };
    std::sort(sorted.begin(), sorted.end(), order);
    T const* repeated = nullptr;  // the first in the list
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i - 1]->*name == sorted[i]->*name && (repeated == nullptr || sorted[i] < repeated))
            repeated = sorted[i];
    }
    if (repeated == nullptr) return;
    throw FormatError(offset, {path, "[", repeated - list.data(), "]"}, {"repeats the name \"", repeated->*name, "\""});
}

template <>
struct message_rules<OpDesc> : NoRules {
    static void value(WireValue const& v, std::uint32_t tag) {
        if (tag == 3) v.name();
    }
    static void whole(OpDesc const& op, std::uint64_t offset, std::string const& path) {
        check_names(op.inputs, &OpDesc::Var::parameter, offset, path + ".inputs");
        check_names(op.outputs, &OpDesc::Var::parameter, offset, path + ".outputs");
        check_names(op.attrs, &Attribute::name, offset, path + ".attrs");
    }
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

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE std::string to_string(OpDesc const& desc) {
    std::string text;
    detail::append_slots(text, desc.outputs);
    text.append(desc.outputs.empty() ? "" : " = ").append(desc.type).append("(");
    detail::append_slots(text, desc.inputs);
    text.append(")");
    char const* comma = " {";
    for (Attribute const& a : desc.attrs) {
        text.append(comma).append(to_string(a));
        comma = ", ";
    }
    if (!desc.attrs.empty()) text.append("}");
    return desc.is_target ? text.append(", target") : text;
}

ROWAN_FUNCTION ROWAN_RARE std::ostream& operator<<(std::ostream& out, OpDesc const& desc) {
    return out << to_string(desc);
}

ROWAN_DESCRIPTOR(OpDesc)

}  // namespace rowan::inline v0

#endif
