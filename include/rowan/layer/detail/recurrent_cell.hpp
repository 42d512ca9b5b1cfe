// rowan/layer/detail/recurrent_cell.hpp: CellOptions and Gates, settings and parameters common to recurrent cells.
#pragma once

#include <rowan/layer/fc.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace rowan::inline v0::layer {

/// The settings of a recurrent cell.
struct CellOptions {
    std::int64_t size = 0;                   ///< width of the state; for an LSTM, of output and cell each
    std::optional<Initializer> weight = {};  ///< initial weights and biases; default ±1/√size
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// The contribution of the input to the gates of a cell, and weight and bias for the contribution of the state.
template <class T, class Device>
struct Gates {
    /// `state`: the width of the state that the gates read, if it is not options.size.
    Gates(std::int64_t gates, layer::Var<T, Device> const& input, layer::CellOptions const& options,
          std::int64_t state = 0)
        : first(initializer(options)), width(spec::times("the size of a cell", options.size, gates)),
          x(layer::fc(input, {.output_size = width, .weight = first, .bias = first})),
          w(layer::parameter<T, Device>({state == 0 ? options.size : state, width}, first)),
          b(layer::parameter<T, Device>({width}, first)) {}

    static layer::Initializer initializer(layer::CellOptions const& options) {
        auto const size = static_cast<double>(options.size);
        if (options.size < 1) throw ValueError("the size of a cell", size, "1 or more");
        return options.weight.value_or(layer::Uniform{-1 / std::sqrt(size), 1 / std::sqrt(size)});
    }

    layer::Initializer first;
    std::int64_t width;
    layer::Var<T, Device> x, w, b;
};

}  // namespace rowan::inline v0::detail
