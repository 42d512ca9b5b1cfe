// rowan/op/fields.hpp: field, the name of an attribute in descriptors.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <string_view>

namespace rowan::inline v0 {

/// The name of a member of an attributes struct in descriptors. Attributes that are stored in descriptors list their
/// members, which may be numbers, bool, enumerations, Dims, vectors of int64, strings, or std::optional of these: an
/// std::array of fields if all members have the same type, else a std::tuple.
///     struct attributes {
///         double limit = 1;
///         static constexpr auto fields = std::array{field{"limit", &attributes::limit}};
///     };
template <class Struct, class Member>
struct field {
    std::string_view name;   ///< name in descriptors
    Member Struct::*member;  ///< pointer to the member
};
template <class Struct, class Member>
field(char const*, Member Struct::*) -> field<Struct, Member>;

}  // namespace rowan::inline v0
