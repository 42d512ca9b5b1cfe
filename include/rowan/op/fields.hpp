// rowan/op/fields.hpp: field, the name of an attribute in descriptors.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <string_view>
#include <tuple>

namespace rowan::inline v0 {

/// The name of a member of an attributes struct in descriptors. Attributes that are stored in descriptors list their
/// members, which may be numbers, bool, enumerations, Dims, vectors of int64 or double, strings, or std::optional of
/// these: as a std::tuple of fields, or as a function that calls visit with them, which takes the compiler less memory.
///     struct attributes {
///         double limit = 1;
///         static constexpr auto fields = std::tuple{field{"limit", &attributes::limit}};
///     };
///     struct others {
///         double limit = 1;
///         ROWAN_OPTIONS(others, limit)      // that function for any number of members, under their own names
///     };
template <class Struct, class Member>
struct field {
    std::string_view name;   ///< name in descriptors
    Member Struct::*member;  ///< pointer to the member
};
template <class Struct, class Member>
field(char const*, Member Struct::*) -> field<Struct, Member>;

namespace detail {

template <class A>
concept has_fields_function = requires {
    A::fields([](auto const&...) {});
};

}  // namespace detail

/// Whether the attributes list their members.
template <class A>
concept has_fields = detail::has_fields_function<A> || requires {
    A::fields;
};

/// Calls visit(field) for each member that the attributes list, in their order.
/// errors   those of visit
/// cost     a call for each member
template <has_fields A, class Visit>
constexpr void each_field(Visit const& visit) {
    auto const each = [&](auto const&... field) { (visit(field), ...); };
    if constexpr (detail::has_fields_function<A>) {
        A::fields(each);
    } else {
        std::apply(each, A::fields);
    }
}

}  // namespace rowan::inline v0

/// Lists members of a struct of options: `fields` calls visit(field{"a", &Struct::a}, …).
#define ROWAN_OPTIONS(Struct, ...)                                        \
    template <class Visit>                                                \
    static constexpr auto fields(Visit const& visit) {                    \
        return visit(ROWAN_EXPAND(ROWAN_FIELDS_OF(Struct, __VA_ARGS__))); \
    }

// The macro of a list calls itself again in the next of the scans that ROWAN_EXPAND makes.
#define ROWAN_FIELDS_OF(Struct, member, ...) \
    ::rowan::field{#member, &Struct::member} __VA_OPT__(, ROWAN_FIELDS_AGAIN ROWAN_PARENS(Struct, __VA_ARGS__))
#define ROWAN_FIELDS_AGAIN() ROWAN_FIELDS_OF
#define ROWAN_PARENS ()
#define ROWAN_EXPAND(...) ROWAN_EXPAND_3(ROWAN_EXPAND_3(ROWAN_EXPAND_3(__VA_ARGS__)))
#define ROWAN_EXPAND_3(...) ROWAN_EXPAND_1(ROWAN_EXPAND_1(ROWAN_EXPAND_1(__VA_ARGS__)))
#define ROWAN_EXPAND_1(...) __VA_ARGS__
