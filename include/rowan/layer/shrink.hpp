// rowan/layer/shrink.hpp: layer::shrink, the sequences that have not ended before a step.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/shrink.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

/// The first sequences of x, or rows if it has no levels: as many as y has sequences with a step `index`. They are in
/// the order of layer::reorder. The elements of y, of any type, are not used.
///     auto alive = layer::shrink(states, words, t);     // in a while_loop that counts the steps in t
/// shapes   x of n sequences or rows, y with levels, index [1] -> the first of them
/// errors   ShapeError if y has no levels or index not one element; IndexError if y has no such level; when the net
///          runs, ShapeError if x has fewer than these or more than y, IndexError if the index is negative
/// cost     O(sequences), when the net runs: an alias
template <class T, class U, class Device>
Var<T, Device> shrink(Var<T, Device> const& x, Var<U, Device> const& y, Var<std::int64_t, Device> const& index,
                      ShrinkOptions const& options = {}) {
    return apply<shrink_op>(options, x, y, index);
}

}  // namespace rowan::inline v0::layer
