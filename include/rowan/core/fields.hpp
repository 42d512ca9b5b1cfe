// rowan/core/fields.hpp: field, the name of a member of options, in descriptors and elsewhere.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <string_view>
#include <tuple>
#include <type_traits>

namespace rowan::inline v0 {

/// The name of a member of an attributes struct in descriptors. Attributes that are stored in descriptors list their
/// members, which may be numbers, bool, enumerations, Dims, vectors of int64 or double, strings, or std::optional of
/// these: as a std::tuple of fields, or as arguments of a call, which takes the compiler less memory.
///     struct attributes {
///         double limit = 1;
///         static constexpr auto fields = std::tuple{field{"limit", &attributes::limit}};
///     };
///     struct others {
///         double limit = 1;
///         ROWAN_OPTIONS(others, limit)      // such a function, for any number of members under their own names
///     };
template <class Struct, class Member>
struct field {
    std::string_view name;   ///< name in descriptors
    Member Struct::*member;  ///< pointer to the member
};
template <class Struct, class Member>
field(char const*, Member Struct::*) -> field<Struct, Member>;

namespace detail {

struct takes_fields {  // no lambda, which nvcc does not take in a concept
    constexpr void operator()(auto const&...) const {}
};

template <class A>
concept has_fields_function = requires {
    A::fields(takes_fields{});
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

namespace detail {

/// `to` with the members of `from` that have the names of its own fields, of the same types.
template <has_fields To, has_fields From>
To with_fields_of(From const& from, To to = {}) {
    each_field<To>([&]<class Member>(field<To, Member> const& own) {
        each_field<From>([&]<class Other>(field<From, Other> const& other) {
            if constexpr (std::is_same_v<Member, Other>) {
                if (own.name == other.name) to.*own.member = from.*other.member;
            }
        });
    });
    return to;
}

}  // namespace detail

}  // namespace rowan::inline v0

/// Within a struct: lists members, of which there are at most 27, as fields of their own names.
///     struct AdaGradOptions {
///         double learning_rate = 0.01, epsilon = 1e-6;
///         ROWAN_OPTIONS(AdaGradOptions, learning_rate, epsilon)
///     };
#define ROWAN_OPTIONS(Struct, ...)                                      \
    template <class Visit>                                              \
    static constexpr auto fields(Visit const& visit) {                  \
        return visit(ROWAN_EACH(ROWAN_FIELDS_OF(Struct, __VA_ARGS__))); \
    }
#define ROWAN_FIELDS_OF(Struct, member, ...) \
    ::rowan::field{#member, &Struct::member} __VA_OPT__(, ROWAN_MORE_FIELDS ROWAN_NONE()()(Struct, __VA_ARGS__))
#define ROWAN_MORE_FIELDS() ROWAN_FIELDS_OF
#define ROWAN_NONE()
// Each pass expands one more member.
#define ROWAN_EACH(...) ROWAN_EACH_9(ROWAN_EACH_9(ROWAN_EACH_9(__VA_ARGS__)))
#define ROWAN_EACH_9(...) ROWAN_EACH_3(ROWAN_EACH_3(ROWAN_EACH_3(__VA_ARGS__)))
#define ROWAN_EACH_3(...) ROWAN_EACH_1(ROWAN_EACH_1(ROWAN_EACH_1(__VA_ARGS__)))
#define ROWAN_EACH_1(...) __VA_ARGS__
