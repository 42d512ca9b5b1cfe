// rowan/sequence/drop_levels.hpp: drop_levels, a batch without its outermost levels.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rowan::inline v0 {

namespace detail {

// Not constexpr, so a compile error names it.
[[noreturn]] inline void there_are_not_so_many_levels(char const* field, std::size_t given, std::size_t levels) {
    auto const as_given = static_cast<std::int64_t>(given);  // a negative number was converted
    throw ShapeError(field, as_given, {"in [0, ", levels, "], as x has ", levels, " levels"});
}

/// The number of levels to drop; all by default.
constexpr std::size_t levels_to_drop(char const* field, std::optional<std::size_t> given, std::size_t levels) {
    if (given.value_or(0) > levels) there_are_not_so_many_levels(field, *given, levels);
    return given.value_or(levels);
}

}  // namespace detail

/// The rows of x without its outermost levels, by default without all of them, as an alias.
///
///     x {{0, 2, 3}, {0, 1, 3, 4}}, levels 1   ->   {{0, 1, 3, 4}}
///
/// The gradient is that of the result, with the levels of x.
/// shapes   x [n, ...] -> [n, ...]
/// errors   ShapeError if x has fewer levels
/// cost     O(levels); no rows are copied
template <class T, class Device>
LoDTensor<T, Device> drop_levels(LoDTensor<T, Device> const& x, std::optional<std::size_t> levels = {}) {
    std::size_t const all = x.lod().levels();
    return {x.value().share(), x.lod().slice_levels(detail::levels_to_drop("levels", levels, all), all)};
}

}  // namespace rowan::inline v0
