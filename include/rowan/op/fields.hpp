// rowan/op/fields.hpp: field, the name of an attribute in descriptors.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <string_view>
#include <tuple>

namespace rowan::inline v0 {

/// The name of a member of an attributes struct in descriptors. Attributes that are stored in descriptors list their
/// members: as a std::tuple of fields, or as arguments of a call, which takes the compiler less memory. Members may be
/// numbers, bool, enumerations, Dims, vectors of int64 or double, strings, or std::optional of these.
///     struct attributes {
///         double limit = 1;
///         static constexpr auto fields = std::tuple{field{"limit", &attributes::limit}};
///     };
///     struct others {
///         double limit = 1;
///         static constexpr auto fields(auto const& visit) { return visit(field{"limit", &others::limit}); }
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
