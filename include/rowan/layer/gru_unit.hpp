// rowan/layer/gru_unit.hpp: layer::gru_unit, one step of a gated recurrent unit with parameters of its own.
#pragma once

#include <rowan/layer/fc.hpp>
#include <rowan/op/gru_unit.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace rowan::inline v0::layer {

struct GruOptions {
    std::int64_t size = 0;               ///< of the state
    std::optional<Uniform> weight = {};  ///< of all weights and biases; ±1/√size unless given
};

/// The state after a step, see rowan::gru_unit. Parameters: w_x [width of x, 3 · size] and b_x, w_h [size, 3 · size] and b_h, the gates in
/// the order reset, update, candidate, as PyTorch's transposed.
/// shapes   x [n, width], before [n, size] -> [n, size]
template <class T, class Device>
Var<T, Device> gru_unit(Var<T, Device> const& x, Var<T, Device> const& before, GruOptions const& options) {
    double const bound = 1 / std::sqrt(static_cast<double>(options.size));
    Uniform const first = options.weight.value_or(Uniform{-bound, bound});
    auto const gates = fc(x, {.output_size = 3 * options.size, .weight = first, .bias = first});
    auto const w = parameter<T, Device>({options.size, 3 * options.size}, first);
    auto const b = parameter<T, Device>({3 * options.size}, first);
    return apply<gru_unit_op>({}, gates, before, w, b);
}

}  // namespace rowan::inline v0::layer
