// rowan/layer/gru.hpp: layer::gru, stacked and bidirectional GRU layers.
#pragma once

#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/lstm.hpp>

#include <vector>

namespace rowan::inline v0::layer {

/// GRU layers as torch.nn.GRU, with sequences of any lengths instead of padding. The parameters of each layer and
/// direction are those of layer::gru_unit. The last states are in PyTorch's order: for each layer, that of the forward
/// direction and then that of the reverse one. The states begin with `h`, PyTorch's h_0, in the same order and with
/// gradients; an empty list stands for zeros.
///     auto h = layer::gru(words, {.size = 64, .layers = 2, .bidirectional = true, .dropout = 0.2});
/// shapes   x [n, width] with levels, h [sequences, size] for each layer and direction -> output [n, directions · size]
///          with the levels of x, states [sequences, size]
/// errors   ShapeError if there are initial states, but not one for each layer and direction, or one has another width;
///          those of layer::stack_layers, layer::rnn and layer::gru_unit
/// cost     those of layer::stack_layers, layer::rnn and layer::gru_unit
template <class T, class Device>
Recurrences<T, Device> gru_with_last(Var<T, Device> const& x, RecurrentOptions const& options,
                                     std::vector<Var<T, Device>> const& h = {}) {
    auto const step = [&](auto const& x_t, auto const& before) {
        auto const now = gru_unit(x_t, before[0], options.cell());
        return Step<T, Device>{now, now};
    };
    auto const made = rowan::detail::stack_cells<T, Device>(x, options, {{"layer::gru: h", h}}, step);
    return {made.output, made.last[0]};
}
/// Returns the output alone, as gru_with_last.
template <class T, class Device>
Var<T, Device> gru(Var<T, Device> const& x, RecurrentOptions const& options,
                   std::vector<Var<T, Device>> const& h = {}) {
    return gru_with_last(x, options, h).output;
}

}  // namespace rowan::inline v0::layer
