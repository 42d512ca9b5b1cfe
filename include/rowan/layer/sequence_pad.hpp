// rowan/layer/sequence_pad.hpp: layer::sequence_pad, sequences as padded rows, and their lengths.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/sequence/sequence_pad.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

/// Padded sequences and their lengths.
template <class T, class Device = Cpu>
struct Padded {
    Var<T, Device> value;              ///< [sequences, padded length, ...]
    Var<std::int64_t, Device> length;  ///< [sequences]
};

/// Row s of the value is sequence s of the last level of x, followed by padding.
///     auto [rows, length] = layer::sequence_pad(words, {.length = 20});     // [n, width] -> [sentences, 20, width]
///     auto back = layer::sequence_unpad(rows, length);
///     layer::sequence_pad(points, {.pad_values = {0, -1}});                 // rows of padding are [0 -1]
/// shapes   x [n, ...] of s sequences -> [s, m, ...] and [s], where m is options.length or that of the longest sequence;
///          with the upper levels of x
/// errors   ShapeError if x has no levels or rank 8, or pad_values are given but not one for each column; when
///          the net runs, as rowan::to_padded
/// cost     as rowan::to_padded, when the net runs; with pad_values the padding is written twice
template <class T, class Device>
Padded<T, Device> sequence_pad(Var<T, Device> const& x, SequencePadOptions const& options = {}) {
    auto const& made = default_scope().new_op<sequence_pad_op, Device, T>({&*x}, options).outputs;
    return {Var<T, Device>(*made[0]), Var<std::int64_t, Device>(*made[1])};
}

}  // namespace rowan::inline v0::layer
