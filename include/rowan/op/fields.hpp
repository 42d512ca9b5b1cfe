// rowan/op/fields.hpp: field, a member of an operator's attributes as descriptors name it.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// Attributes that descriptors are to hold list their members: numbers, truth values, enumerations, Dims, lists of int64, strings, each of
/// which may be optional.
///     struct attributes {
///         double limit = 1;
///         static constexpr auto fields = std::tuple(field{"limit", &attributes::limit});
///     };
template <class Struct, class Member>
struct field {
    std::string_view name;   ///< in descriptors
    Member Struct::*member;  ///< where it is
};
template <class Struct, class Member>
field(char const*, Member Struct::*) -> field<Struct, Member>;

}  // namespace rowan::inline v0
