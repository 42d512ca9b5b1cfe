// rowan/layer/edit_distance.hpp: layer::edit_distance, how many tokens one sequence differs from another by.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/edit_distance.hpp>

namespace rowan::inline v0::layer {

/// The least number of insertions, deletions and substitutions of tokens that turn each sequence of x into that of y.
///     auto errors = layer::reduce_mean(layer::cast<float>(layer::edit_distance(spoken, text, {.normalized = true})));
/// shapes   x and y [n] or [n, 1] … with levels -> [sequences, 1] with the upper levels of x
/// errors   ShapeError if x or y has no levels, its rows have more or less than one element, or y has other upper
///          levels or another number of sequences
/// cost     as rowan::edit_distance, when the net runs
template <id_type I, class Device>
Var<double, Device> edit_distance(Var<I, Device> const& x, Var<I, Device> const& y,
                                  EditDistanceOptions const& options = {}) {
    return apply<edit_distance_op>(options, x, y);
}

}  // namespace rowan::inline v0::layer
