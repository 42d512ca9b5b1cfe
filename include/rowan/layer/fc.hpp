// rowan/layer/fc.hpp: layer::fc, a fully connected layer with its own parameters.
#pragma once

#include <rowan/graph/detail/trace.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/op/fc.hpp>

#include <cstdint>
#include <optional>

namespace rowan::inline v0::layer {

/// The settings of layer::fc.
struct FcOptions {
    std::int64_t output_size = 0;        ///< 0: the width of the input
    std::optional<Uniform> weight = {};  ///< initial weights; default xavier
    Uniform bias = {};                   ///< initial bias; default zeros
};

/// x · w + b
/// shapes   x [n, width] -> [n, output_size], with the levels of x
/// errors   ShapeError if x is not a matrix, or its width is unknown, except in the step of an RnnProgram, where the
///          width is inferred later if output_size is given; ValueError if output_size is negative
/// cost     as rowan::fc, when the net runs; two parameters in the net
template <class T, class Device>
Var<T, Device> fc(Var<T, Device> const& x, FcOptions const& options = {}) {
    spec::matrix("layer::fc: x", x->spec());
    std::int64_t const width = x->spec().dims[1];
    std::int64_t const size = options.output_size == 0 ? width : options.output_size;
    if (options.output_size < 0) throw ValueError("output_size", static_cast<double>(size), "0 or more");
    if (size == UNK) throw ShapeError("layer::fc: output_size", "0", "a size, as the width of x is unknown");
    auto const w = [&] {
        if (width != UNK || !rowan::detail::depends_on_placeholder(*x))
            return parameter<T, Device>({width, size}, options.weight.value_or(xavier(width, size)));
        Variable& v = rowan::detail::outermost_scope().new_var("", tensor_spec<T>({UNK, size}), Role::parameter);
        v.set_width = [size, weight = options.weight](Variable& self, std::int64_t known) {
            begin_with<T, Device>(self, {known, size}, weight.value_or(xavier(known, size)));
        };
        return Var<T, Device>(v);
    }();
    auto const b = parameter<T, Device>({size}, options.bias);
    return apply<fc_op>({}, x, w, b);
}

ROWAN_TEMPLATE(Var<float> fc(Var<float> const&, FcOptions const&))
ROWAN_TEMPLATE(Var<double> fc(Var<double> const&, FcOptions const&))

}  // namespace rowan::inline v0::layer
