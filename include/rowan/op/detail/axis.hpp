// rowan/op/detail/axis.hpp: axes of tensors as options give them.
#pragma once

#include <rowan/op/operator.hpp>

#include <span>

namespace rowan::inline v0::detail {

/// What is wrong with an axis that is not in [-rank, rank).
inline std::string beyond_rank(std::size_t rank) {
    std::string const dims = std::to_string(rank);
    return "is not in [" + std::string(rank == 0 ? "" : "-") + dims + ", " + dims + ")";
}

// Not constexpr, so a compile error names it.
[[noreturn]] inline void there_is_no_such_axis(std::int64_t axis, std::size_t rank) {
    throw IndexError("axis", IndexError::no_position, axis, beyond_rank(rank));
}

/// The axis counted from the first one; -1 is the last one.
/// errors   IndexError if it is not in [-rank, rank)
constexpr std::size_t checked_axis(std::int64_t axis, std::size_t rank) {
    auto const dims = static_cast<std::int64_t>(rank);
    if (axis < -dims || axis >= dims) there_is_no_such_axis(axis, rank);
    return static_cast<std::size_t>(axis < 0 ? axis + dims : axis);
}

/// For each axis of a tensor, whether it is in `axes`. Negative axes count from the end; no axes stand for all.
constexpr std::array<bool, 8> checked_axes(std::span<std::int64_t const> axes, std::size_t rank) {
    std::array<bool, 8> in{};
    for (std::size_t i = 0; i < rank; ++i) in[i] = axes.empty();
    auto const dims = static_cast<std::int64_t>(rank);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i] < -dims || axes[i] >= dims) throw IndexError("axes", i, axes[i], beyond_rank(rank));
        for (std::size_t k = 0; k < i; ++k) {
            if (axes[k] == axes[i] || axes[k] == axes[i] + dims || axes[k] == axes[i] - dims)
                throw IndexError("axes", i, axes[i], {"is the same axis as axes[", k, "]"});
        }
        in[static_cast<std::size_t>(axes[i] < 0 ? axes[i] + dims : axes[i])] = true;
    }
    return in;
}

/// The axis counted from the first one if there is such an axis, else as it is.
constexpr std::int64_t from_first(std::int64_t axis, std::size_t rank) {
    auto const dims = static_cast<std::int64_t>(rank);
    return axis < 0 && axis >= -dims ? axis + dims : axis;
}

/// Options with such axes: a recurrent net can tell them from axis 0, which is that of rows.
template <class Options>
constexpr Options axes_from_first(std::size_t rank, Options options) {
    if constexpr (requires { options.axes; }) {
        for (std::int64_t& axis : options.axes) axis = from_first(axis, rank);
    } else {
        options.axis = from_first(options.axis, rank);
    }
    return options;
}

}  // namespace rowan::inline v0::detail
