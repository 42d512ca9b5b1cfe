// rowan/layer/lstm_unit.hpp: layer::lstm_unit, one step of a long short-term memory with parameters of its own.
#pragma once

#include <rowan/layer/concat.hpp>
#include <rowan/layer/detail/recurrent_cell.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/split.hpp>
#include <rowan/op/lstm_unit.hpp>

namespace rowan::inline v0::layer {

/// The settings of layer::lstm_unit.
using LstmOptions = CellOptions;

/// A step, see rowan::lstm_unit. The state is the output and the cell side by side, so a layer of `size` has a memory of 2 · size:
///     auto h = layer::rnn(x, 2 * 64, [](auto x_t, auto before) { return layer::lstm_unit(x_t, before, {.size = 64}); });
/// Parameters: w_x [width of x, 4 · size] and b_x, w_h [size, 4 · size] and b_h, the gates in the order input, forget, cell, output, as
/// PyTorch's transposed.
/// shapes   x [n, width], before [n, 2 · size] -> output [n, size], memory [n, 2 · size]
/// errors   ValueError if options.size is less than 1; ShapeError as layer::fc, or if `before` has another width
/// cost     as rowan::lstm_unit, when the net runs, and a product of x with w_x, in a recurrent layer one for all steps; the state is
///          copied when it is split, and when output and cell are joined
template <class T, class Device>
Step<T, Device> lstm_unit(Var<T, Device> const& x, Var<T, Device> const& before, LstmOptions const& options) {
    detail::Gates<T, Device> const gates(4, x, options);
    auto const parts = split(before, {options.size, options.size}, 1);
    auto const& made =
        default_scope()
            .new_op<lstm_unit_op, Device, T, T, T, T, T>({&*gates.x, &*parts[0], &*parts[1], &*gates.w, &*gates.b})
            .outputs;
    Var<T, Device> const h(*made[0]);
    return {h, concat({h, Var<T, Device>(*made[1])}, 1)};
}

}  // namespace rowan::inline v0::layer
