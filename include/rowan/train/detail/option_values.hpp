// rowan/train/detail/option_values.hpp: the options of optimizers and clippings, as attributes and as named values.
#pragma once

#include <rowan/core/fields.hpp>
#include <rowan/detail/named_values.hpp>

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
typename O::op::attributes operator_options(O const& o) {
    if constexpr (requires { o.options(); }) {
        return o.options();
    } else {
        return with_fields_of<typename O::op::attributes>(o);
    }
}

template <class O>
concept returns_attributes = requires(O const& o) {
    { o.options() } -> std::same_as<typename O::op::attributes>;
};

/// Whether a struct names an operator and has its attributes.
template <class O>
concept has_attributes = returns_attributes<O> ||(has_fields<O>&& has_fields<typename O::op::attributes>);

/// The name of an optimizer or a clipping, and its options: the fields of O, or those of its attributes; the learning
/// rate, if neither lists any. Adam and AdamW differ in `decoupled`.
template <class O>
NamedValues option_values(O const& o) {
    auto const attributes = operator_options(o);
    NamedValues all;
    all.add("", O::op::name);
    if constexpr (has_fields<O>) {
        add_fields(all, ".", o);
    } else if constexpr (has_fields<typename O::op::attributes>) {
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
