// rowan/layer/gru_unit.hpp: layer::gru_unit, one step of a gated recurrent unit with its own parameters.
#pragma once

#include <rowan/layer/detail/recurrent_cell.hpp>
#include <rowan/op/recurrent/declared.hpp>

#include <concepts>

namespace rowan::inline v0::layer {

/// The settings of layer::gru_unit.
using GruOptions = CellOptions;

/// Returns the state after one step, see rowan::gru_unit. Parameters: w_x [width of x, 3 · size] and b_x,
/// w_h [size, 3 · size] and b_h, with the gates in the order reset, update, candidate; w_x and w_h are PyTorch's,
/// transposed.
/// shapes   x [n, width], before [n, size] -> [n, size]
/// errors   ValueError if options.size is less than 1; ShapeError as layer::fc, or if the width of `before` is not size
/// cost     as rowan::gru_unit, when the net runs, plus the product of x and w_x, which a recurrent layer computes once
///          for all steps
template <class T, class Device>
Var<T, Device> gru_unit(Var<T, Device> const& x, Var<T, Device> const& before, GruOptions const& options) {
    rowan::detail::LayerRollback added;
    detail::Gates<T, Device> const gates(3, x, options);
    auto const now = apply<gru_unit_op>({}, gates.x, before, gates.w, gates.b);
    added.keep();
    return now;
}

// A mistake, which does not compile.
template <class T, class Device, std::integral Size>
auto gru_unit(Var<T, Device> const&, Var<T, Device> const& before, Size) {
    static_assert(!std::integral<Size>,
                  "rowan::layer::gru_unit: options have names: layer::gru_unit(x, before, {.size = 16})");
    return before;
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/recurrent/gru_unit.hpp>
#endif
