// rowan/layer/lstm.hpp: layer::lstm, stacked and bidirectional LSTM layers.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/layer/lstm_unit.hpp>
#include <rowan/layer/memory.hpp>
#include <rowan/layer/stack_layers.hpp>
#include <rowan/op/infer.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
        throw ShapeError(std::string(field).append(".size()"), std::to_string(states.size()),
                         "one for each layer and direction");
    for (auto const& state : states) {
        spec::matrix(field, state->spec());
        if (std::int64_t const width = state->spec().dims[1]; width != UNK && width != options.size)
            throw ShapeError(std::string(field).append(" width"), std::to_string(width),
                             std::to_string(options.size).append(", the size"));
    }
}

template <class T, class Device>
layer::Memory initial_memory(std::vector<layer::Var<T, Device>> const& states, std::size_t i, std::int64_t size) {
    return states.empty() ? layer::Memory{.size = size} : layer::Memory{.like = states[i]};
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
    rowan::detail::check_initial("layer::lstm: h", h, options);
    rowan::detail::check_initial("layer::lstm: c", c, options);
    LstmResult<T, Device> last{x, {}, {}};
    auto const direction = [&](Var<T, Device> const& y, RnnOptions const& way) {
        auto const step = [&](auto const& x_t, auto const& before) {
            rowan::detail::Gates<T, Device> const gates(4, x_t, options.cell());
            auto const [out, cell] = rowan::detail::lstm_step(gates, before[0], before[1]);
            return Step<T, Device>{out, {out, cell}};
        };
        auto const first = [&](auto const& states) {
            return rowan::detail::initial_memory(states, last.h.size(), options.size);
        };
        auto const made = rnn_with_last(y, {first(h), first(c)}, step, way);
        last.h.push_back(made.last[0]);
        last.c.push_back(made.last[1]);
        return made.output;
    };
    last.output = stack_layers(x, options.stack(), direction);
    return last;
}
/// Returns the output alone, as lstm_with_last.
template <class T, class Device>
Var<T, Device> lstm(Var<T, Device> const& x, RecurrentOptions const& options, std::vector<Var<T, Device>> const& h = {},
                    std::vector<Var<T, Device>> const& c = {}) {
    return lstm_with_last(x, options, h, c).output;
}

}  // namespace rowan::inline v0::layer
