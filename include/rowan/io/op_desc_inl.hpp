// rowan/io/op_desc_inl.hpp: definitions of rowan/io/op_desc.hpp.
#pragma once

#include <rowan/io/op_desc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace rowan::inline v0::detail {

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
    throw FormatError(offset, path + "[" + std::to_string(repeated - list.data()) + "]",
                      "repeats the name \"" + repeated->*name + "\"");
}

ROWAN_CALLED_FUNCTION void message_rules<OpDesc>::whole(OpDesc const& op, std::uint64_t offset,
                                                        std::string const& path) {
    check_names(op.inputs, &OpDesc::Var::parameter, offset, path + ".inputs");
    check_names(op.outputs, &OpDesc::Var::parameter, offset, path + ".outputs");
    check_names(op.attrs, &Attribute::name, offset, path + ".attrs");
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION std::string to_string(OpDesc const& desc) {
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

}  // namespace rowan::inline v0

#endif
