// rowan/layer/one_hot.hpp: layer::one_hot, a row of zeros and a one for each id.
#pragma once

#include <rowan/layer/operators.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/shape/declared.hpp>

#include <cstdint>
#include <type_traits>

namespace rowan::inline v0::layer {

/// A row for each id: 1 in the column of the id, else 0, see rowan::one_hot.
///     auto const target = layer::one_hot(labels, {.depth = 10});
/// shapes   ids [n] or [n, 1] -> [n, depth], with the levels of ids
/// errors   ShapeError if ids have another shape; ValueError if depth is negative; when the net runs, IndexError if an
///          id is not in [0, depth)
/// cost     as rowan::one_hot, when the net runs; for another type than float, as layer::cast besides
template <class T = float, class I, class Device>
Var<T, Device> one_hot(Var<I, Device> const& ids, OneHotOptions const& options) {
    auto const rows = apply<one_hot_op>(options, ids);
    if constexpr (std::is_same_v<T, float>) {
        return rows;
    } else {
        return cast<T>(rows);
    }
}
template <class T = float, class I, class Device>
Var<T, Device> one_hot(Var<I, Device> const& ids, std::int64_t depth) {
    return one_hot<T>(ids, OneHotOptions{.depth = depth});
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/shape/one_hot.hpp>
#endif
