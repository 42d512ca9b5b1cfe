// rowan/layer/lstm.hpp: layer::lstm, stacked and bidirectional LSTM layers.
#pragma once

#include <rowan/layer/lstm_unit.hpp>
#include <rowan/layer/stack_layers.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace rowan::inline v0::layer {

/// The settings of layer::lstm and layer::gru.
struct RecurrentOptions {
    std::int64_t size = 0;                   ///< width of the output of each direction
    std::int64_t layers = 1;                 ///< number of layers; each reads the output of the one before it
    bool bidirectional = false;              ///< whether a layer also runs in reverse: its output is both, side by side
    double dropout = 0;                      ///< probability of layer::dropout between the layers
    std::optional<FirstValues> weight = {};  ///< initial weights and biases; default ±1/√size

    /// The settings of one cell.
    /// errors   none
    /// cost     O(1)
    CellOptions cell() const { return {.size = size, .weight = weight}; }
    /// The settings of layer::stack_layers.
    /// errors   none
    /// cost     O(1)
    StackLayersOptions stack() const { return {.layers = layers, .bidirectional = bidirectional, .dropout = dropout}; }
};

/// The output of LSTM layers, and the last states of each sequence in PyTorch's order: for each layer, that of the
/// forward direction and then that of the reverse one.
template <class T, class Device>
struct LstmResult {
    Var<T, Device> output;          ///< one row for each row of the input
    std::vector<Var<T, Device>> h;  ///< outputs after the last step of each direction, [sequences, size]
    std::vector<Var<T, Device>> c;  ///< cells after it, [sequences, size]
};

/// LSTM layers as torch.nn.LSTM, with sequences of any lengths instead of padding. The parameters of each layer and
/// direction are those of layer::lstm_unit. For other cells, see layer::stack_layers.
///     auto [h, last, cells] = layer::lstm_with_last(words, {.size = 64, .layers = 2, .bidirectional = true});
/// shapes   x [n, width] with levels -> output [n, directions · size] with the levels of x, states [sequences, size]
/// errors   those of layer::stack_layers, layer::rnn and layer::lstm_unit
/// cost     those of layer::stack_layers, layer::rnn and layer::lstm_unit
template <class T, class Device>
LstmResult<T, Device> lstm_with_last(Var<T, Device> const& x, RecurrentOptions const& options) {
    std::vector<Var<T, Device>> h, c;
    auto const direction = [&](Var<T, Device> const& y, RnnOptions const& way) {
        auto const step = [&](auto const& x_t, auto const& before) {
            rowan::detail::Gates<T, Device> const gates(4, x_t, options.cell());
            auto const [out, cell] = rowan::detail::lstm_step(gates, before[0], before[1]);
            return Step<T, Device>{out, {out, cell}};
        };
        auto const made = rnn_with_last(y, {{.size = options.size}, {.size = options.size}}, step, way);
        h.push_back(made.last[0]);
        c.push_back(made.last[1]);
        return made.output;
    };
    auto const output = stack_layers(x, options.stack(), direction);
    return {output, h, c};
}
/// Returns the output alone, as lstm_with_last.
template <class T, class Device>
Var<T, Device> lstm(Var<T, Device> const& x, RecurrentOptions const& options) {
    return lstm_with_last(x, options).output;
}

}  // namespace rowan::inline v0::layer
