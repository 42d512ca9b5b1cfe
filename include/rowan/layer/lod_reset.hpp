// rowan/layer/lod_reset.hpp: layer::lod_reset and lod_from_offsets, rows with other levels.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/lod_reset.hpp>

namespace rowan::inline v0::layer {

/// The rows of x with the levels of y; the elements of y, of any type, are not used.
///     auto sequences = layer::lod_reset(rows, words);
/// shapes   x [n, ...], y with levels for n rows -> [n, ...], with the levels of y
/// errors   ShapeError if y has no levels; when the net runs, LodError if they are not for n rows
/// cost     O(1), when the net runs: an alias
template <class T, class U, class Device>
Var<T, Device> lod_reset(Var<T, Device> const& x, Var<U, Device> const& y) {
    return apply<lod_reset_op>({}, x, y);
}

/// The rows of x as sequences: sequence s is rows [offset[s], offset[s + 1]).
///     auto sentences = layer::lod_from_offsets(words, layer::data<std::int64_t>("offsets", {UNK}));      // 0, 3, 3, 7
/// shapes   x [n, ...], offset [sequences + 1] -> [n, ...] with one level
/// errors   ShapeError if offset is not of rank 1; when the net runs, LodError if offsets do not begin with 0, decrease,
///          or do not end with n
/// cost     O(sequences), when the net runs: an alias
template <class T, id_type I, class Device>
Var<T, Device> lod_from_offsets(Var<T, Device> const& x, Var<I, Device> const& offset) {
    return apply<lod_from_offsets_op>({}, x, offset);
}

}  // namespace rowan::inline v0::layer
