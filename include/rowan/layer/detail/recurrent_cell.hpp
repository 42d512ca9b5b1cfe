// rowan/layer/detail/recurrent_cell.hpp: the parameters that layers of recurrent cells share the form of.
#pragma once

#include <rowan/layer/fc.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace rowan::inline v0::layer {

struct CellOptions {
    std::int64_t size = 0;               ///< of the state; of an LSTM that of the output and of the cell
    std::optional<Uniform> weight = {};  ///< of all weights and biases; ±1/√size unless given
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// The input's part of so many gates, and weight and bias of the state's.
template <class T, class Device>
struct Gates {
    Gates(std::int64_t gates, layer::Var<T, Device> const& input, layer::CellOptions const& options)
        : first(first_values(options)), width(gates * options.size),
          x(layer::fc(input, {.output_size = width, .weight = first, .bias = first})),
          w(layer::parameter<T, Device>({options.size, width}, first)), b(layer::parameter<T, Device>({width}, first)) {
    }

    static layer::Uniform first_values(layer::CellOptions const& options) {
        auto const size = static_cast<double>(options.size);
        if (options.size < 1) throw ValueError("the size of a cell", size, "1 or more");
        return options.weight.value_or(layer::Uniform{-1 / std::sqrt(size), 1 / std::sqrt(size)});
    }

    layer::Uniform first;
    std::int64_t width;
    layer::Var<T, Device> x, w, b;
};

}  // namespace rowan::inline v0::detail
