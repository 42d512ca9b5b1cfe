// rowan/layer/stack_layers.hpp: layer::stack_layers, recurrent layers on top of each other, in one or both directions.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/memory.hpp>
#include <rowan/layer/operators.hpp>

#include <cstdint>

namespace rowan::inline v0::detail {

inline void check_layers(std::int64_t layers) {
    if (layers < 1) throw ValueError("layer::stack_layers: layers", layers, "1 or more");
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// How recurrent layers are stacked.
struct StackLayersOptions {
    std::int64_t layers = 1;     ///< number of layers; each reads the output of the one before it
    bool bidirectional = false;  ///< whether a layer also runs in reverse: its output is both, side by side
    double dropout = 0;          ///< probability of layer::dropout between the layers
};

/// Calls `direction(x, RnnOptions)` for each layer, and again with `.reverse = true` if options.bidirectional, and
/// returns the output of the last layer.
///     auto h = layer::stack_layers(x, {.layers = 2, .bidirectional = true}, [](auto y, auto options) {
///         auto step = [](auto x_t, auto before) { return layer::lstm_unit(x_t, before, {.size = 64}); };
///         return layer::rnn(y, 2 * 64, step, options);
///     });
/// shapes   x [n, ...] with levels -> [n, directions · size], with the levels of x
/// errors   ValueError if options.layers is less than 1, or options.dropout is not in [0, 1]; those of `direction`
/// cost     those of the layers and of layer::dropout; outputs of two directions are copied once
template <class T, class Device, class F>
auto stack_layers(Var<T, Device> const& x, StackLayersOptions const& options, F const& direction) {
    rowan::detail::check_layers(options.layers);
    rowan::detail::check_dropout(options.dropout);
    auto const layer = [&](auto const& y) {
        auto const forward = direction(y, RnnOptions{});
        return options.bidirectional ? concat({forward, direction(y, RnnOptions{.reverse = true})}, 1) : forward;
    };
    auto y = layer(x);
    for (std::int64_t k = 1; k < options.layers; ++k) y = layer(options.dropout > 0 ? dropout(y, options.dropout) : y);
    return y;
}

}  // namespace rowan::inline v0::layer
