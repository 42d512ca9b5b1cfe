// rowan/layer/reset_first_gru_unit.hpp: a GRU step that resets the state before the product.
#pragma once

#include <rowan/layer/detail/recurrent_cell.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/split.hpp>

#include <cstdint>

namespace rowan::inline v0::layer {

/// Returns the state after one step of a GRU that applies the reset gate before the matrix product, as Cho et al.
/// (2014) and Paddle do; layer::gru_unit applies it after the product, as PyTorch and cuDNN do.
/// With x' = x · w_x + b_x:
///     (r, z) = sigmoid(x'_rz + h_prev · w_rz + b_rz);  c = tanh(x'_c + (r · h_prev) · w_c + b_c)
///     h = (1 - z) · c + z · h_prev
/// Parameters: w_x [width of x, 3 · size] and b_x, with the gates in the order reset, update, candidate;
/// w_rz [size, 2 · size] and b_rz; w_c [size, size] and b_c. (Paddle's default is h = z · c + (1 - z) · h_prev.)
/// shapes   x [n, width], before [n, size] -> [n, size]
/// errors   ValueError if options.size is less than 1; ShapeError as layer::fc, or if the width of `before` is not size
/// cost     6 · n · size² operations; a pass over n · size elements for each operation on elements, when the net runs
template <class T, class Device>
Var<T, Device> reset_first_gru_unit(Var<T, Device> const& x, Var<T, Device> const& before, GruOptions const& options) {
    std::int64_t const size = options.size;
    rowan::detail::LayerRollback added;
    Initializer const first = rowan::detail::Gates<T, Device>::initializer(options);
    auto const linear = [&](auto const& y, std::int64_t width) {
        return fc(y, {.output_size = width, .weight = first, .bias = first});
    };
    auto const from_x = split(linear(x, spec::times("the size of a cell", size, 3)), {2 * size, size}, 1);
    auto const gates = split(sigmoid(add(from_x[0], linear(before, 2 * size))), {size, size}, 1);
    auto const candidate = tanh(add(from_x[1], linear(mul(gates[0], before), size)));
    auto const now = add(candidate, mul(gates[1], sub(before, candidate)));
    added.keep();
    return now;
}

}  // namespace rowan::inline v0::layer
