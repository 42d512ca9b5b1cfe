// rowan/train/detail/option_values.hpp: the options of optimizers and clippings, as attributes and as named values.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/fields.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/op/operator_of.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Adds a number, an enumeration, a text, or what an optional or a list has of these, by name. Other types are left out.
template <class V>
void add_option(NamedValues& to, std::string_view name, V const& v) {
    if constexpr (std::same_as<V, bool>) {
        to.add(name, v);
    } else if constexpr (std::convertible_to<V const&, std::string_view>) {
        to.add(name, std::string_view(v));
    } else if constexpr (std::floating_point<V>) {
        to.add(name, static_cast<double>(v));
    } else if constexpr (std::integral<V> || std::is_enum_v<V>) {
        to.add(name, static_cast<std::int64_t>(v));
    } else if constexpr (requires {
                             v.has_value();
                             *v;
                         }) {
        if (v) add_option(to, name, *v);
    } else if constexpr (requires { v.begin() != v.end(); }) {
        std::size_t i = 0;
        for (auto const& element : v)
            add_option(to, std::string(name).append("[").append(std::to_string(i++)).append("]"), element);
    }
}

/// Adds the fields of a struct, by their names after `before`.
template <has_fields A>
void add_fields(NamedValues& to, char const* before, A const& a) {
    each_field<A>([&](auto const& f) { add_option(to, std::string(before).append(f.name), a.*f.member); });
}

/// The attributes of the operator of an optimizer, an average or a clipping: what its options() returns, else its fields.
template <class O>
attributes_of<typename O::op> operator_options(O const& o) {
    if constexpr (requires { o.options(); }) {
        return o.options();
    } else {
        return with_fields_of<attributes_of<typename O::op>>(o);
    }
}

/// Checks the options of an optimizer that its function takes, but that no training wants: steps that raise the cost, and
/// penalties that make parameters grow. Those that are not finite are left to the operator.
/// errors   ValueError if the learning rate is negative or, of an operator of rowan's, a penalty is, or the momentum is
///          not in [0, 1]
template <class Op>
void check_trains(attributes_of<Op> const& a) {
    auto const check = [](char const* field, double value) {
        if (value < 0) throw ValueError(field, value, "0 or more");
    };
    if constexpr (requires { check("", a.learning_rate); }) check("learning_rate", a.learning_rate);
    if constexpr (is_builtin<Op>) {
        if constexpr (requires { a.weight_decay; }) check("weight_decay", a.weight_decay);
        if constexpr (requires { a.momentum; }) {
            check("momentum", a.momentum);
            if (a.momentum > 1) throw ValueError("momentum", a.momentum, "a number in [0, 1]");
        }
        if constexpr (requires { a.l1; }) check("l1", a.l1);
        if constexpr (requires { a.l2; }) check("l2", a.l2);
    }
}

template <class O>
concept returns_attributes = requires(O const& o) {
    { o.options() } -> std::same_as<attributes_of<typename O::op>>;
};

/// Whether a struct names an operator and has its attributes.
template <class O>
concept has_attributes = returns_attributes<O> ||(has_fields<O>&& has_fields<attributes_of<typename O::op>>);

/// The name of an optimizer or a clipping, and its options: the fields of O, or those of its attributes; the learning
/// rate, if neither lists any. Adam and AdamW differ in `decoupled`.
template <class O>
NamedValues option_values(O const& o) {
    auto const attributes = operator_options(o);
    NamedValues all;
    all.add("", declaration_of<typename O::op>::name);
    if constexpr (has_fields<O>) {
        add_fields(all, ".", o);
    } else if constexpr (has_fields<attributes_of<typename O::op>>) {
        add_fields(all, ".", attributes);
    } else if constexpr (requires { attributes.learning_rate; }) {
        add_option(all, ".learning_rate", attributes.learning_rate);
    }
    if constexpr (
        requires { attributes.decoupled; } && !requires { o.decoupled; })
        add_option(all, ".decoupled", attributes.decoupled);
    if constexpr (requires { typename O::deferred; }) add_option(all, ".deferred", true);
    return all;
}

}  // namespace rowan::inline v0::detail
