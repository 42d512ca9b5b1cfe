// rowan/layer/drop_levels.hpp: layer::drop_levels, a batch without its outermost levels.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/drop_levels.hpp>

namespace rowan::inline v0::layer {

/// The rows of x without its outermost levels, by default without all of them.
///     auto sentences = layer::drop_levels(layer::sequence_pool(words));    // a row for each sentence of any paragraph
/// shapes   x [n, ...] -> [n, ...]
/// errors   ShapeError if x has fewer levels
/// cost     as rowan::drop_levels, when the net runs
template <class T, class Device>
Var<T, Device> drop_levels(Var<T, Device> const& x, DropLevelsOptions const& options = {}) {
    return apply<drop_levels_op>(options, x);
}

}  // namespace rowan::inline v0::layer
