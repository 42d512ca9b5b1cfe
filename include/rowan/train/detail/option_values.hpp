// rowan/train/detail/option_values.hpp: what ranks that train together must have in common, with names.
#pragma once

#include <rowan/detail/named_values.hpp>
#include <rowan/op/fields.hpp>

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

/// The name of an optimizer or a clipping, and its options: the fields of O, or those of its attributes; the learning
/// rate, if neither lists any. Adam and AdamW differ in `decoupled`.
template <class O>
NamedValues option_values(O const& o) {
    NamedValues all;
    all.add("", O::op::name);
    auto const add_fields = [&]<class A>(A const& a) {
        each_field<A>([&](auto const& f) { add_option(all, std::string(".").append(f.name), a.*f.member); });
    };
    if constexpr (has_fields<O>) {
        add_fields(o);
    } else if constexpr (has_fields<typename O::op::attributes>) {
        add_fields(o.options());
    } else if constexpr (requires { o.options().learning_rate; }) {
        add_option(all, ".learning_rate", o.options().learning_rate);
    }
    if constexpr (requires { o.options().decoupled; }) add_option(all, ".decoupled", o.options().decoupled);
    return all;
}

}  // namespace rowan::inline v0::detail
