// rowan/layer/lstm_unit.hpp: layer::lstm_unit, one step of a long short-term memory with its own parameters.
#pragma once

#include <rowan/layer/detail/recurrent_cell.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/split.hpp>
#include <rowan/op/recurrent/declared.hpp>

#include <array>
#include <concepts>

namespace rowan::inline v0::detail {

/// The output and the cell after one step.
template <class T, class Device>
std::array<layer::Var<T, Device>, 2> lstm_step(Gates<T, Device> const& gates, layer::Var<T, Device> const& h,
                                               layer::Var<T, Device> const& c) {
    auto const& made = default_scope()
                           .new_op<lstm_unit_op, Device, T, T, T, T, T>({&*gates.x, &*h, &*c, &*gates.w, &*gates.b})
                           .outputs;
    return {layer::Var<T, Device>(*made[0]), layer::Var<T, Device>(*made[1])};
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// The settings of layer::lstm_unit.
using LstmOptions = CellOptions;

/// Computes one step, see rowan::lstm_unit. The state is the output concatenated with the cell, so a layer of `size`
/// has a memory of width 2 · size:
///     auto h = layer::rnn(x, 2 * 64,
///                         [](auto x_t, auto before) { return layer::lstm_unit(x_t, before, {.size = 64}); });
/// Parameters: w_x [width of x, 4 · size] and b_x, w_h [size, 4 · size] and b_h, with the gates in the order input,
/// forget, cell, output; w_x and w_h are PyTorch's, transposed.
/// shapes   x [n, width], before [n, 2 · size] -> output [n, size], memory [n, 2 · size]
/// errors   ValueError if options.size is less than 1; ShapeError as layer::fc, or if the width of `before` is not
///          2 · size
/// cost     as rowan::lstm_unit, when the net runs, plus the product of x and w_x, which a recurrent layer computes
///          once for all steps; the state is copied when it is split and when output and cell are concatenated
template <class T, class Device>
Step<T, Device> lstm_unit(Var<T, Device> const& x, Var<T, Device> const& before, LstmOptions const& options) {
    rowan::detail::LayerRollback added;
    detail::Gates<T, Device> const gates(4, x, options);
    auto const parts = split(before, {options.size, options.size}, 1);
    auto const [h, c] = rowan::detail::lstm_step(gates, parts[0], parts[1]);
    auto const memory = concat({h, c}, 1);
    added.keep();
    return {h, memory};
}

// A mistake, which does not compile.
template <class T, class Device, std::integral Size>
auto lstm_unit(Var<T, Device> const&, Var<T, Device> const& before, Size) {
    static_assert(!std::integral<Size>,
                  "rowan::layer::lstm_unit: options have names: layer::lstm_unit(x, before, {.size = 16})");
    return Step<T, Device>{before, before};
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/recurrent/lstm_unit.hpp>
#endif
