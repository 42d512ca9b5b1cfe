// rowan/layer/lstm.hpp: layer::lstm, stacked and bidirectional LSTM layers.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/layer/lstm_unit.hpp>
#include <rowan/layer/memory.hpp>
#include <rowan/layer/stack_layers.hpp>
#include <rowan/op/infer.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// The settings of layer::lstm and layer::gru.
struct RecurrentOptions {
    std::int64_t size = 0;                   ///< width of the output of each direction
    std::int64_t layers = 1;                 ///< number of layers; each reads the output of the one before it
    bool bidirectional = false;              ///< whether a layer also runs in reverse: its output is both, side by side
    double dropout = 0;                      ///< probability of layer::dropout between the layers
    std::optional<Initializer> weight = {};  ///< initial weights and biases; default ±1/√size

    /// The settings of one cell.
    /// errors   none
    /// cost     O(1)
    CellOptions cell() const { return {.size = size, .weight = weight}; }
    /// The settings of layer::stack_layers.
    /// errors   none
    /// cost     O(1)
    StackLayersOptions stack() const { return {.layers = layers, .bidirectional = bidirectional, .dropout = dropout}; }
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// Checks that there is an initial state for each layer and direction, or none.
template <class T, class Device>
void check_initial(char const* field, std::vector<layer::Var<T, Device>> const& states,
                   layer::RecurrentOptions const& options) {
    if (states.empty()) return;
    std::size_t const directions = options.bidirectional ? 2 : 1;
    check_layers(options.layers);
    if (states.size() % directions != 0 || !std::cmp_equal(states.size() / directions, options.layers))
        throw ShapeError({field, ".size()"}, states.size(), "one for each layer and direction");
    for (auto const& state : states) {
        spec::matrix(field, state->spec());
        if (std::int64_t const width = state->spec().dims[1]; width != UNK && width != options.size)
            throw ShapeError({field, " width"}, width, {options.size, ", the size"});
    }
}

/// One of the states of a cell, as errors call it, and its first values for each layer and direction, or none.
template <class T, class Device>
struct CellState {
    char const* field;
    std::vector<layer::Var<T, Device>> const& first;
};

/// Layers of a cell: the output, and for each of its states the last values in the order of the first ones.
template <class T, class Device>
struct CellLayers {
    layer::Var<T, Device> output;
    std::vector<std::vector<layer::Var<T, Device>>> last;
};

/// Stacks layers of a cell, of which `step` is one step.
template <class T, class Device, class Step>
CellLayers<T, Device> stack_cells(layer::Var<T, Device> const& x, layer::RecurrentOptions const& options,
                                  std::initializer_list<CellState<T, Device>> states, Step const& step) {
    for (auto const& state : states) check_initial(state.field, state.first, options);
    CellLayers<T, Device> made{x, std::vector<std::vector<layer::Var<T, Device>>>(states.size())};
    auto const direction = [&](layer::Var<T, Device> const& y, layer::RnnOptions const& way) {
        std::vector<layer::Memory> memories;
        for (auto const& [field, first] : states)
            memories.push_back(first.empty() ? layer::Memory{.size = options.size}
                                             : layer::Memory{.like = first[made.last[0].size()]});
        auto const run = rnn_with_last(y, memories, step, way);
        for (std::size_t k = 0; k < states.size(); ++k) made.last[k].push_back(run.last[k]);
        return run.output;
    };
    made.output = stack_layers(x, options.stack(), direction);
    return made;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// The output of LSTM layers, and the last states of each sequence in PyTorch's order: for each layer, that of the
/// forward direction and then that of the reverse one.
template <class T, class Device>
struct LstmResult {
    Var<T, Device> output;          ///< one row for each row of the input
    std::vector<Var<T, Device>> h;  ///< outputs after the last step of each direction, [sequences, size]
    std::vector<Var<T, Device>> c;  ///< cells after it, [sequences, size]
};

/// LSTM layers as torch.nn.LSTM, with sequences of any lengths instead of padding. The parameters of each layer and
/// direction are those of layer::lstm_unit. The states begin with `h` and `c`, PyTorch's h_0 and c_0, in the order of
/// the last states and with gradients; a list that is empty stands for zeros. For other cells, see layer::stack_layers.
///     auto read = layer::lstm_with_last(words, {.size = 64, .layers = 2});
///     auto told = layer::lstm(answer, {.size = 64, .layers = 2}, read.h, read.c);
/// shapes   x [n, width] with levels, h and c each [sequences, size] for each layer and direction -> output
///          [n, directions · size] with the levels of x, states [sequences, size]
/// errors   ShapeError if there are initial states, but not one for each layer and direction, or one has another width;
///          those of layer::stack_layers, layer::rnn and layer::lstm_unit
/// cost     those of layer::stack_layers, layer::rnn and layer::lstm_unit
template <class T, class Device>
LstmResult<T, Device> lstm_with_last(Var<T, Device> const& x, RecurrentOptions const& options,
                                     std::vector<Var<T, Device>> const& h = {},
                                     std::vector<Var<T, Device>> const& c = {}) {
    auto const step = [&](auto const& x_t, auto const& before) {
        rowan::detail::Gates<T, Device> const gates(4, x_t, options.cell());
        auto const [out, cell] = rowan::detail::lstm_step(gates, before[0], before[1]);
        return Step<T, Device>{out, {out, cell}};
    };
    auto const made =
        rowan::detail::stack_cells<T, Device>(x, options, {{"layer::lstm: h", h}, {"layer::lstm: c", c}}, step);
    return {made.output, made.last[0], made.last[1]};
}
/// Returns the output alone, as lstm_with_last.
template <class T, class Device>
Var<T, Device> lstm(Var<T, Device> const& x, RecurrentOptions const& options, std::vector<Var<T, Device>> const& h = {},
                    std::vector<Var<T, Device>> const& c = {}) {
    return lstm_with_last(x, options, h, c).output;
}

}  // namespace rowan::inline v0::layer
