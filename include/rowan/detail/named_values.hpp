// rowan/detail/named_values.hpp: NamedValues, a list of what must be the same on all ranks, with names.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rowan::inline v0::detail {

/// A number for bytes, to compare them.
/// cost     one read
ROWAN_IF_CALLED std::int64_t hash_of(std::span<std::byte const> bytes);

/// The first value that differs between two lists. `first` or `other` is "missing" where the name is not in that list.
struct Difference {
    std::string name, first, other;
};

/// Names and values as one text, of which all ranks make the same if they have the same values.
class NamedValues {
public:
    ROWAN_IF_CALLED void add(std::string_view name, std::string_view value);
    ROWAN_IF_CALLED void add(std::string_view name, double value);  // the shortest text that is this number
    ROWAN_IF_CALLED void add(std::string_view name, std::int64_t value);
    ROWAN_IF_CALLED void add(std::string_view name, bool value);
    /// A value that is a list of its own: its names follow `name`.
    ROWAN_IF_CALLED void add(std::string_view name, NamedValues const& values);

    std::string const& text() const { return text_; }
    /// A number for the whole list.
    ROWAN_IF_CALLED std::int64_t hash() const;

private:
    std::string text_;  // of each, the name, '\t', the value, '\n'
};

/// Compares two texts of NamedValues.
ROWAN_IF_CALLED Difference first_difference(std::string_view first, std::string_view other);

}  // namespace rowan::inline v0::detail

#include <rowan/detail/named_values_inl.hpp>
