// rowan/layer/lstmp_unit.hpp: layer::lstmp_unit, an LSTM step with peepholes, a projection and clipped cells.
#pragma once

#include <rowan/layer/detail/recurrent_cell.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/matmul.hpp>
#include <rowan/layer/memory.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/split.hpp>

#include <cstdint>
#include <optional>

namespace rowan::inline v0::layer {

/// The settings of layer::lstmp_unit.
struct LstmpOptions {
    std::int64_t size = 0;                   ///< width of the cell
    std::int64_t projection = 0;             ///< width of the output; 0: that of the cell, without a projection
    bool peepholes = false;                  ///< whether the gates also read the cell
    double cell_clip = 0;                    ///< largest absolute value of an element of the cell; 0: no limit
    std::optional<Initializer> weight = {};  ///< initial weights and biases; default ±1/√size

    /// The width of the output.
    /// errors   none
    /// cost     O(1)
    std::int64_t output_size() const { return projection == 0 ? size : projection; }
};

/// Computes one step of the LSTM of Sak, Senior and Beaufays (2014), TensorFlow's LSTMCell and Paddle's lstmp. With
/// g = x · w_x + b_x + h_prev · w_h + b_h, and without peepholes p = 0:
///     i = sigmoid(g_i + p_i · c_prev);  f = sigmoid(g_f + p_f · c_prev);  c = clip(f · c_prev + i · tanh(g_u))
///     o = sigmoid(g_o + p_o · c);  h = (o · tanh(c)) · w_p
/// The state is the output concatenated with the cell, so its width is options.output_size() + options.size.
/// Parameters: w_x [width of x, 4 · size] and b_x, w_h [output size, 4 · size] and b_h, with the gates in the order
/// input, forget, cell, output; p_i, p_f and p_o [size]; w_p [size, projection].
/// Without any of this, layer::lstm_unit is faster.
/// shapes   x [n, width], before [n, output size + size] -> output [n, output size], memory like before
/// errors   ValueError if options.size is less than 1, or the projection or the limit is negative or NaN; ShapeError as
///          layer::fc, or if `before` has another width
/// cost     8 · n · size · output size operations, and those of the projection; a pass over n · size elements for each
///          operation on elements, when the net runs
template <class T, class Device>
Step<T, Device> lstmp_unit(Var<T, Device> const& x, Var<T, Device> const& before, LstmpOptions const& options) {
    std::int64_t const size = options.size, width = options.output_size();
    if (options.projection < 0) throw ValueError("layer::lstmp_unit: projection", width, "0 or more");
    if (!(options.cell_clip >= 0)) throw ValueError("layer::lstmp_unit: cell_clip", options.cell_clip, "0 or more");
    rowan::detail::LayerRollback added;
    rowan::detail::Gates<T, Device> const gates(4, x, {.size = size, .weight = options.weight}, width);
    auto const state = split(before, {width, size}, 1);
    auto const g = split(add(gates.x, apply<fc_op>({}, state[0], gates.w, gates.b)), {size, size, size, size}, 1);
    auto const weight = [&](Dims const& dims) { return parameter<T, Device>(dims, gates.first); };
    auto const gate = [&](auto const& gate_sum, auto const& cell) {
        return sigmoid(options.peepholes ? add(gate_sum, mul(cell, weight({size}))) : gate_sum);
    };
    auto const input = gate(g[0], state[1]), forget = gate(g[1], state[1]);
    auto const kept = add(mul(forget, state[1]), mul(input, tanh(g[2])));
    auto const c = options.cell_clip > 0 ? clip(kept, -options.cell_clip, options.cell_clip) : kept;
    auto const out = mul(gate(g[3], c), tanh(c));
    auto const h = options.projection == 0 ? out : matmul(out, weight({size, width}));
    auto const memory = concat({h, c}, 1);
    added.keep();
    return {h, memory};
}

}  // namespace rowan::inline v0::layer
