// rowan/io/op_attributes.hpp: conversion of operators' attributes to and from those of descriptors.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/detail/pooling.hpp>
#include <rowan/io/op_desc.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/var_spec.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rowan::inline v0 {

/// The number of values, from 0 on, of an enumeration in attributes; 0 if the user of the attribute validates it.
template <class E>
inline constexpr std::int32_t enumerators = 0;
/// The number of values of Pooling.
template <>
inline constexpr std::int32_t enumerators<Pooling> = 7;
/// The number of values of Reduction.
template <>
inline constexpr std::int32_t enumerators<Reduction> = 3;

}  // namespace rowan::inline v0

namespace rowan::inline v0::detail {

template <class M>
struct optional_value {
    using type = M;
};
template <class M>
struct optional_value<std::optional<M>> {
    using type = M;
};

/// The type that a descriptor stores for a member: LONG for integers, INT for enumerations.
template <class M>
using described_t = std::conditional_t<
    std::is_same_v<M, bool>, bool,
    std::conditional_t<std::is_enum_v<M>, std::int32_t,
                       std::conditional_t<std::is_integral_v<M>, std::int64_t,
                                          std::conditional_t<std::is_same_v<M, Dims>, std::vector<std::int64_t>, M>>>>;

template <class M>
described_t<M> described(M const& x) {
    if constexpr (std::is_same_v<M, Dims>) {
        return {x.begin(), x.end()};
    } else {
        return static_cast<described_t<M>>(x);
    }
}

/// Whether a descriptor may lack a member: if it is optional, or a list of factors, which is then empty.
template <class M>
inline constexpr bool may_lack =
    !std::is_same_v<M, typename optional_value<M>::type> || std::is_same_v<M, std::vector<double>>;

/// The attributes of an operator as those of a descriptor. An optional attribute without a value is omitted, and so is
/// an empty list of factors.
template <class A>
ROWAN_RARE std::vector<Attribute> describe_attributes([[maybe_unused]] A const& attributes) {
    std::vector<Attribute> list;
    if constexpr (has_fields<A>) {
        auto const add = [&](auto const& field) {
            using M = std::remove_cvref_t<decltype(attributes.*field.member)>;
            using V = typename optional_value<M>::type;
            if constexpr (std::is_same_v<M, std::vector<double>>) {
                if (!(attributes.*field.member).empty())
                    list.push_back({std::string(field.name), attributes.*field.member});
            } else if constexpr (std::is_same_v<M, V>) {
                list.push_back({std::string(field.name), described(attributes.*field.member)});
            } else if (attributes.*field.member) {
                list.push_back({std::string(field.name), described(*(attributes.*field.member))});
            }
        };
        each_field<A>(add);
    } else {
        static_assert(std::is_empty_v<A>,
                      "rowan: attributes that are saved in files must list their members: see rowan::field");
    }
    return list;
}

/// The attribute of that name, or nullptr.
Attribute const* find_attribute(std::span<Attribute const> list, std::string_view name);

[[noreturn]] void bad_attribute(OpDesc const& op, std::string_view name, std::string_view what);

/// errors   GraphError if it is missing or has another type
template <class V>
V const& get_attribute(OpDesc const& op, std::string_view name) {
    Attribute const* const a = find_attribute(op.attrs, name);
    if (a == nullptr) bad_attribute(op, name, "is missing");
    V const* const value = std::get_if<V>(&a->value);
    if (value == nullptr) bad_attribute(op, name, "has another type");
    return *value;
}

/// errors   GraphError if the operator has an attribute with another name than these
ROWAN_IF_CALLED void check_attributes(OpDesc const& op, std::span<std::string_view const> known);

template <class M>
ROWAN_RARE M read_attribute(OpDesc const& op, std::string_view name) {
    auto const& value = get_attribute<described_t<M>>(op, name);
    if constexpr (std::is_same_v<M, Dims>) {
        Dims dims;
        for (std::int64_t const dim : value) dims.push_back(dim);
        return dims;
    } else {
        if constexpr (std::is_enum_v<M>) {
            if (enumerators<M> != 0 && (value < 0 || value >= enumerators<M>))
                bad_attribute(op, name, "is not a value of its enumeration");
        }
        if constexpr (std::is_integral_v<M> && !std::is_same_v<M, bool>) {
            if (!std::in_range<M>(value)) bad_attribute(op, name, "is out of range");
        }
        return static_cast<M>(value);
    }
}

/// errors   GraphError if an attribute is missing, has another type or an invalid value, or is unknown to the operator
template <class A>
ROWAN_RARE A read_attributes(OpDesc const& op) {
    A attributes{};
    std::vector<std::string_view> known;
    if constexpr (has_fields<A>) {
        auto const read = [&](auto const& field) {
            using M = std::remove_cvref_t<decltype(attributes.*field.member)>;
            using V = typename optional_value<M>::type;
            bool const there = find_attribute(op.attrs, field.name) != nullptr;
            known.push_back(field.name);
            if (there || !may_lack<M>) attributes.*field.member = read_attribute<V>(op, field.name);
        };
        each_field<A>(read);
    }
    check_attributes(op, known);
    return attributes;
}

}  // namespace rowan::inline v0::detail

#include <rowan/io/op_attributes_inl.hpp>
