// rowan/layer/layer_norm.hpp: layer::layer_norm, rows with mean 0 and variance 1, and trained scale and shift.
#pragma once

#include <rowan/layer/full.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/norm/declared.hpp>

#include <cstdint>
#include <string>

namespace rowan::inline v0::layer {

/// The settings of layer::layer_norm.
struct LayerNormOptions {
    std::int64_t begin_axis = -1;  ///< the first axis that is normalised; -1 is the last one
    double epsilon = 1e-5;         ///< added to the variance
    bool scale = true;             ///< whether rows are multiplied by a parameter, which begins with ones
    bool shift = true;             ///< whether a parameter is added, which begins with zeros
    std::string name = {};         ///< if not empty, the parameters are name.w_0 and name.b_0
};

/// (x - mean) / √(variance + epsilon) · scale + shift, with the mean and the variance of each row.
///     auto h = layer::layer_norm(x + layer::fc(x));
/// shapes   x [n, ...] -> [n, ...], with the levels of x; scale and shift have the dims of x from begin_axis on
/// errors   ShapeError if the rank of x is below 2, or a dim from begin_axis on is unknown; ValueError if begin_axis is
///          0 or not an axis of x, or epsilon is negative or not finite; GraphError if the outermost scope already has
///          these names
/// cost     as rowan::layer_norm, when the net runs; two parameters in the net
template <class T, class Device>
Var<T, Device> layer_norm(Var<T, Device> const& x, LayerNormOptions const& options = {}) {
    rowan::LayerNormOptions attributes{options.begin_axis, options.epsilon};
    Dims const& dims = x->spec().dims;
    if (dims.size() < 2) spec::the_rank_does_not_fit("layer::layer_norm: x", dims.size(), "at least 2");
    std::size_t const axis = rowan::detail::first_normalised(attributes, dims.size());
    Dims const tail = rowan::detail::shape_from(dims, axis);
    rowan::detail::check_known(tail);
    attributes.begin_axis = static_cast<std::int64_t>(axis);
    rowan::detail::LayerRollback added;
    auto const row = [&](bool trained, double first, char const* slot) {
        if (!trained) return layer::full<T, Device>(tail, first);
        return parameter<T, Device>(tail, Constant{first}, rowan::detail::parameter_name(options.name, slot));
    };
    auto const w = row(options.scale, 1, "w_0"), b = row(options.shift, 0, "b_0");
    auto const y = apply<layer_norm_op>(attributes, x, w, b);
    added.keep();
    return y;
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/norm/layer_norm.hpp>
#endif
