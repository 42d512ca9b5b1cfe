// rowan/io/op_attributes.hpp: the attributes of operators as those of descriptors, and back.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/op_desc.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/op/fields.hpp>
#include <rowan/op/gradients.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/sequence/sequence_pool.hpp>

#include <concepts>
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

/// How many values an enumeration among attributes has, counted from 0; 0 if whoever reads them checks that.
template <class E>
inline constexpr std::int32_t enumerators = 0;
/// Of the pools.
template <>
inline constexpr std::int32_t enumerators<Pooling> = 7;
/// Of the reductions.
template <>
inline constexpr std::int32_t enumerators<Reduction> = 3;

}  // namespace rowan::inline v0

namespace rowan::inline v0::detail {

template <class A>
concept has_fields = requires {
    A::fields;
};

template <class M>
struct optional_value {
    using type = M;
};
template <class M>
struct optional_value<std::optional<M>> {
    using type = M;
};

/// What a descriptor holds of a member: whole numbers are LONG, enumerations INT.
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

/// The attributes of an operator. An optional one without a value is left out.
template <class A>
std::vector<Attribute> describe_attributes([[maybe_unused]] A const& attributes) {
    std::vector<Attribute> list;
    if constexpr (has_fields<A>) {
        auto const add = [&](auto const& field) {
            using M = std::remove_cvref_t<decltype(attributes.*field.member)>;
            using V = typename optional_value<M>::type;
            if constexpr (std::is_same_v<M, V>) {
                list.push_back({std::string(field.name), described(attributes.*field.member)});
            } else if (attributes.*field.member) {
                list.push_back({std::string(field.name), described(*(attributes.*field.member))});
            }
        };
        std::apply([&](auto const&... field) { (add(field), ...); }, A::fields);
    } else {
        static_assert(std::is_empty_v<A>,
                      "rowan: attributes that a file is to hold list their members: see rowan::field");
    }
    return list;
}

/// An attribute of that name, or nullptr.
Attribute const* find_attribute(std::span<Attribute const> list, std::string_view name);

[[noreturn]] void bad_attribute(OpDesc const& op, std::string_view name, std::string_view what);

/// errors   GraphError if it is missing or of another kind
template <class V>
V const& get_attribute(OpDesc const& op, std::string_view name) {
    Attribute const* const a = find_attribute(op.attrs, name);
    if (a == nullptr) bad_attribute(op, name, "is missing");
    V const* const value = std::get_if<V>(&a->value);
    if (value == nullptr) bad_attribute(op, name, "is of another kind");
    return *value;
}

template <class M>
M read_attribute(OpDesc const& op, std::string_view name) {
    auto const& value = get_attribute<described_t<M>>(op, name);
    if constexpr (std::is_same_v<M, Dims>) {
        Dims dims;
        for (std::int64_t const dim : value) dims.push_back(dim);
        return dims;
    } else {
        if constexpr (std::is_enum_v<M>) {
            if (enumerators<M> != 0 && (value < 0 || value >= enumerators<M>))
                bad_attribute(op, name, "is no value of its enumeration");
        }
        if constexpr (std::is_integral_v<M> && !std::is_same_v<M, bool>) {
            if (!std::in_range<M>(value)) bad_attribute(op, name, "is out of range");
        }
        return static_cast<M>(value);
    }
}

/// errors   GraphError if an attribute is missing, of another kind, or none that the operator has
template <class A>
A read_attributes(OpDesc const& op) {
    A attributes{};
    std::size_t known = 0;
    if constexpr (has_fields<A>) {
        auto const read = [&](auto const& field) {
            using M = std::remove_cvref_t<decltype(attributes.*field.member)>;
            using V = typename optional_value<M>::type;
            bool const there = find_attribute(op.attrs, field.name) != nullptr;
            known += there ? 1 : 0;
            if (there || std::is_same_v<M, V>) attributes.*field.member = read_attribute<V>(op, field.name);
        };
        std::apply([&](auto const&... field) { (read(field), ...); }, A::fields);
    }
    if (known != op.attrs.size())
        throw GraphError(std::string("operator ").append(op.type).append(" has an attribute that it does not know"));
    return attributes;
}

}  // namespace rowan::inline v0::detail

#include <rowan/io/op_attributes_inl.hpp>
