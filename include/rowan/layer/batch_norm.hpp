// rowan/layer/batch_norm.hpp: layer::batch_norm, columns with mean 0 and variance 1, with moving statistics.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/op/norm/declared.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace rowan::inline v0::layer {

/// The settings of layer::batch_norm.
struct BatchNormOptions {
    double momentum = 0.9;  ///< the part of the moving mean and variance that a step keeps; PyTorch's is 1 - momentum
    double epsilon = 1e-5;  ///< added to the variance
    bool scale = true;      ///< whether columns are multiplied by a parameter, which begins with ones
    bool shift = true;      ///< whether a parameter is added, which begins with zeros
    std::string name = {};  ///< if not empty, the parameters are name.w_0, name.b_0, name.mean_0 and name.variance_0
};

/// (x - mean) / √(variance + epsilon) · scale + shift. In train, with the mean and the variance of each column over all
/// rows of the batch, those of ragged sequences too; elsewhere, such as in infer, with moving ones, which begin with 0
/// and 1 and which each step of train moves: momentum · moving + (1 - momentum) · that of the batch. They are
/// parameters without a gradient: saved, loaded and resumed with the others. Their elements are of dtype<T>::sum if that
/// is an element type, floats for 16-bit x.
///     auto h = layer::relu(layer::batch_norm(layer::fc(x, {.output_size = 100, .bias = false})));
/// shapes   x [n, width] -> [n, width], with the levels of x; the parameters [width]
/// errors   ShapeError if x is not a matrix or its width is unknown; ValueError if epsilon is negative or not finite,
///          or momentum is not in [0, 1]; GraphError in the step of a recurrent layer, in a loop or in a
///          branch, where a layer_norm may be, or if the outermost scope already has these names
/// cost     as rowan::batch_norm, when the net runs; four parameters in the net
template <class T, class Device>
Var<T, Device> batch_norm(Var<T, Device> const& x, BatchNormOptions const& options = {}) {
    rowan::BatchNormAttributes const attributes{options.momentum, options.epsilon};
    rowan::detail::check_batch_norm(attributes);
    spec::matrix("layer::batch_norm: x", x->spec());
    Dims const row{x->spec().dims[1]};
    rowan::detail::check_known(row);
    if (&default_scope() != &rowan::detail::outermost_scope())
        throw GraphError("layer::batch_norm is not for steps, loops and branches: use layer::layer_norm");
    rowan::detail::LayerRollback added;
    auto const named = [&]<class E>(std::type_identity<E>, double first, char const* slot) {
        return parameter<E, Device>(row, Constant{first}, rowan::detail::parameter_name(options.name, slot));
    };
    std::type_identity<T> const same;
    std::type_identity<rowan::detail::kept_t<T>> const wide;
    auto const w = options.scale ? named(same, 1, "w_0") : layer::full<T, Device>(row, 1);
    auto const b = options.shift ? named(same, 0, "b_0") : layer::full<T, Device>(row, 0);
    auto const of_means = named(wide, 0, "mean_0"), of_variances = named(wide, 1, "variance_0");
    Var<std::int64_t, Device> const seed(new_seed<Device>());
    auto const y = apply<batch_norm_op>(attributes, x, w, b, of_means, of_variances, seed);
    added.keep();
    return y;
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/norm/batch_norm.hpp>
#endif
