// rowan/layer/argmax.hpp: layers for positions of extrema and of sorted elements, greatest elements, one-hot rows and
// running sums.
#pragma once

#include <rowan/layer/cast.hpp>
#include <rowan/layer/detail/axis_from_first.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/reduce/argmax.hpp>
#include <rowan/op/reduce/argsort.hpp>
#include <rowan/op/reduce/cumsum.hpp>
#include <rowan/op/reduce/top_k.hpp>
#include <rowan/op/shape/one_hot.hpp>

#include <cstdint>
#include <type_traits>

namespace rowan::inline v0::layer {

/// The position along an axis, by default the last one, of the greatest element, see rowan::argmax.
///     auto const label = layer::argmax(scores);
/// shapes   x [...] -> the dims of x without that of the axis, or with a dim of 1 for it; with the levels of x unless
///          the axis is the first one
/// errors   IndexError if the axis is not in [-rank, rank); when the net runs, ShapeError if there is a result of no
///          elements
/// cost     as rowan::argmax, when the net runs
template <class T, class Device>
Var<std::int64_t, Device> argmax(Var<T, Device> const& x, ArgmaxOptions const& options = {}) {
    return apply<argmax_op>(rowan::detail::counted_from_first(x, options), x);
}
/// The position along an axis of the smallest element, as layer::argmax.
/// shapes   x [...] -> the dims of x without that of the axis, or with a dim of 1 for it; with the levels of x unless
///          the axis is the first one
/// errors   IndexError if the axis is not in [-rank, rank); when the net runs, ShapeError if there is a result of no
///          elements
/// cost     as rowan::argmin, when the net runs
template <class T, class Device>
Var<std::int64_t, Device> argmin(Var<T, Device> const& x, ArgmaxOptions const& options = {}) {
    return apply<argmin_op>(rowan::detail::counted_from_first(x, options), x);
}

/// The positions along an axis, by default the last one, in the order of their elements, see rowan::argsort.
///     auto const order = layer::argsort(scores, {.descending = true});
/// shapes   x [...] -> [...], with the levels of x
/// errors   IndexError if the axis is not in [-rank, rank)
/// cost     as rowan::argsort, when the net runs
template <class T, class Device>
Var<std::int64_t, Device> argsort(Var<T, Device> const& x, ArgsortOptions const& options = {}) {
    return apply<argsort_op>(rowan::detail::counted_from_first(x, options), x);
}

/// The greatest elements of each row and their positions.
template <class T, class Device = Cpu>
struct TopK {
    Var<T, Device> value;               ///< [..., k], in descending order
    Var<std::int64_t, Device> indices;  ///< [..., k]
};

/// The k greatest elements of each row, that is along the last axis, and their positions, see rowan::top_k. The
/// gradient of the values goes to the elements that they are.
///     auto [best, labels] = layer::top_k(scores, {.k = 5});
/// shapes   x [..., n] -> [..., k] and [..., k], with the levels of x
/// errors   ShapeError if the rank is less than 2; ValueError if k is not in [1, n]
/// cost     as rowan::top_k, when the net runs
template <class T, class Device>
TopK<T, Device> top_k(Var<T, Device> const& x, TopKOptions const& options) {
    auto const& made = default_scope().new_op<top_k_op, Device, T>({&*x}, options).outputs;
    return {Var<T, Device>(*made[0]), Var<std::int64_t, Device>(*made[1])};
}
template <class T, class Device>
TopK<T, Device> top_k(Var<T, Device> const& x, std::int64_t k) {
    return top_k(x, TopKOptions{.k = k});
}

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

/// The running sums along an axis, by default the last one, see rowan::cumsum.
///     auto const before = layer::cumsum(x, {.axis = 1, .exclusive = true});
/// shapes   x [...] -> [...], with the levels of x
/// errors   IndexError if the axis is not in [-rank, rank)
/// cost     as rowan::cumsum, when the net runs
template <class T, class Device>
Var<T, Device> cumsum(Var<T, Device> const& x, CumsumOptions const& options = {}) {
    return apply<cumsum_op>(rowan::detail::counted_from_first(x, options), x);
}

}  // namespace rowan::inline v0::layer
