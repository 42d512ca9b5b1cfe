// examples/python/attributes.hpp: attributes of operators, to and from Python.
#pragma once

#include "arrays.hpp"
#include "operator_table.hpp"

#include <rowan/core/error.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/op/gradients.hpp>
#include <rowan/op/loss/cross_entropy_of_probabilities.hpp>
#include <rowan/op/optimizer/optimizers.hpp>
#include <rowan/op/optimizer/moving_average.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/sequence/sequence_pool.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace python {

// ---- the members of attributes

template <class A, class Visit>
void each_member(Visit const& visit) {
    if constexpr (rowan::has_fields<A>) {
        rowan::each_field<A>(visit);
    } else {
        static_assert(std::is_empty_v<A>, "the attributes of an operator have no list of members");
    }
}

// ---- one attribute

template <class M>
struct optional_of {
    using type = M;
};
template <class M>
struct optional_of<std::optional<M>> {
    using type = M;
};

/// The name of the type of an attribute in `operators()`.
template <class M>
std::string type_name() {
    if constexpr (!std::is_same_v<typename optional_of<M>::type, M>) {
        return type_name<typename optional_of<M>::type>() + " | None";
    } else if constexpr (std::is_same_v<M, rowan::Pooling>) {
        return "Pooling";
    } else if constexpr (std::is_same_v<M, rowan::Reduction>) {
        return "Reduction";
    } else if constexpr (std::is_floating_point_v<M>) {
        return "float";
    } else if constexpr (std::is_same_v<M, bool>) {
        return "bool";
    } else if constexpr (std::is_integral_v<M>) {
        return "int";
    } else if constexpr (std::is_same_v<M, std::string>) {
        return "str";
    } else if constexpr (std::is_same_v<M, std::vector<double>>) {
        return "list[float]";
    } else {
        return "list[int]";
    }
}

template <class M>
pybind11::object object_of(M const& member) {
    if constexpr (!std::is_same_v<typename optional_of<M>::type, M>) {
        return member ? object_of(*member) : pybind11::none();
    } else if constexpr (std::is_same_v<M, rowan::Dims>) {
        pybind11::list list;
        for (std::int64_t const dim : member) list.append(dim);
        return list;
    } else if constexpr (requires { member.size(); } && !std::is_same_v<M, std::string>) {
        pybind11::list list;
        for (auto const& element : member) list.append(element);
        return list;
    } else {
        return pybind11::cast(member);
    }
}

/// errors   TypeError, which names the attribute
template <class M>
void set_member(M& member, std::string const& name, pybind11::handle given) {
    auto const refuse = [&](std::string const& expected) {
        throw rowan::TypeError(name, type_text(given), expected);
    };
    if constexpr (!std::is_same_v<typename optional_of<M>::type, M>) {
        set_member(member.emplace(), name, given);
    } else if constexpr (std::is_enum_v<M>) {
        if (!pybind11::isinstance<M>(given)) refuse(pybind11::str(pybind11::detail::get_type_handle(typeid(M), true)));
        member = given.cast<M>();
    } else if constexpr (std::is_floating_point_v<M>) {
        member = static_cast<M>(number_of(name, given));
    } else if constexpr (std::is_same_v<M, bool>) {
        if (!pybind11::isinstance<pybind11::bool_>(given)) refuse("a bool");
        member = given.cast<bool>();
    } else if constexpr (std::is_integral_v<M>) {
        std::int64_t const number = whole_number_of(name, given, "a whole number");
        if (std::is_unsigned_v<M> && number < 0)
            throw rowan::ValueError(name, static_cast<double>(number), "0 or more");
        member = static_cast<M>(number);
    } else if constexpr (std::is_same_v<M, std::string>) {
        if (!pybind11::isinstance<pybind11::str>(given)) refuse("a str");
        member = given.cast<std::string>();
    } else if constexpr (std::is_same_v<M, rowan::Dims>) {
        rowan::Dims dims;
        for (std::int64_t const dim : whole_numbers_of(name, given, "a list of whole numbers")) dims.push_back(dim);
        member = dims;
    } else if constexpr (std::is_same_v<M, std::vector<double>>) {
        member = numbers_of(name, given, "a list of numbers");
    } else {
        auto const numbers = whole_numbers_of(name, given, "a list of whole numbers");
        member.assign(numbers.begin(), numbers.end());
    }
}

// ---- all attributes of an operator

template <class A>
std::vector<AttributeInfo> describe_attributes() {
    std::vector<AttributeInfo> list;
    A const first{};
    each_member<A>([&]<class M>(rowan::field<A, M> const& member) {
        list.push_back({std::string(member.name), type_name<M>(), object_of(first.*member.member)});
    });
    return list;
}

template <class A>
rowan::Attributes make_attributes(std::string const& op, pybind11::dict const& given) {
    auto made = std::make_shared<A>();
    each_member<A>([&]<class M>(rowan::field<A, M> const& member) {
        pybind11::str const name(std::string(member.name));
        if (!given.contains(name) || given[name].is_none()) return;
        set_member((*made).*member.member, op + ": " + std::string(member.name), given[name]);
    });
    return std::shared_ptr<A const>(std::move(made));
}

}  // namespace python
