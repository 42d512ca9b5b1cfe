// rowan/layer/fc.hpp: layer::fc, a fully connected layer with parameters of its own.
#pragma once

#include <rowan/layer/parameter.hpp>
#include <rowan/op/fc.hpp>

#include <cstdint>
#include <optional>

namespace rowan::inline v0::layer {

struct FcOptions {
    std::int64_t output_size = 0;        ///< 0: as wide as the input
    std::optional<Uniform> weight = {};  ///< xavier unless given
    Uniform bias = {};                   ///< zeros unless given
};

/// x · w + b
/// shapes   x [n, width] -> [n, output_size], with the levels of x
/// errors   ShapeError if x is no matrix or its width is not known; ValueError if output_size is negative
template <class T, class Device>
Var<T, Device> fc(Var<T, Device> const& x, FcOptions const& options = {}) {
    spec::matrix("layer::fc: x", x->spec());
    std::int64_t const width = x->spec().dims[1];
    std::int64_t const size = options.output_size == 0 ? width : options.output_size;
    if (options.output_size < 0) throw ValueError("output_size", static_cast<double>(size), "0 or more");
    auto const w = parameter<T, Device>({width, size}, options.weight.value_or(xavier(width, size)));
    auto const b = parameter<T, Device>({size}, options.bias);
    return apply<fc_op>({}, x, w, b);
}

}  // namespace rowan::inline v0::layer
