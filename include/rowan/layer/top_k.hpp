// rowan/layer/top_k.hpp: layer::top_k, the greatest elements of rows and their positions.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/reduce/top_k.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

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

}  // namespace rowan::inline v0::layer
