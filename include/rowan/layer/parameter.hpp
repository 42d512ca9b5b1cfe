// rowan/layer/parameter.hpp: layer::parameter, a trainable variable, and its initialization.
#pragma once

#include <rowan/detail/random.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/layer/var.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// The outermost scope that encloses the default scope: all steps of a recurrent layer share its variables.
Scope& outermost_scope();

void check_known(Dims const& dims);

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Uniform initialization of a parameter: element i is low + (high - low) · uniform(seed, i), uniform being in [0, 1).
struct Uniform {
    double low = 0;   ///< lower bound
    double high = 0;  ///< upper bound
};

/// Initializes all elements to `value`.
/// errors   none
/// cost     none
inline Uniform constant(double value) { return {value, value}; }

/// Uniform within ±√(6 / (inputs + outputs)) (Glorot and Bengio 2010).
/// errors   none
/// cost     none
inline Uniform xavier(std::int64_t inputs, std::int64_t outputs) {
    double const bound = std::sqrt(6.0 / static_cast<double>(inputs + outputs));
    return {-bound, bound};
}

/// Sets the dims and the initialization of a parameter. The initial values are computed on the host.
/// errors   ShapeError if a dim is UNK
/// cost     O(1); when training begins, one write of the elements, and on a device one copy to it
template <class T, class Device = Cpu>
void begin_with(Variable& v, Dims const& dims, Uniform const& first) {
    rowan::detail::check_known(dims);
    typename Tensor<T>::shape_type shape;
    for (std::int64_t const dim : dims) shape.push_back(static_cast<std::size_t>(dim));
    v.set_dims(dims);
    v.bring = &rowan::detail::bring<T, Device>;
    v.initialize = [shape, first](Value& value, std::optional<std::uint64_t> seed, AnyExec any) {
        Device const exec = any.or_default<Device>();
        if (!seed) return value.set(LoDTensor<T, Device>(rowan::detail::new_tensor<T>(exec, shape)));
        auto t = Tensor<T>::from_shape(shape);
        using S = typename dtype<T>::sum;
        for (std::size_t i = 0; i < t.size(); ++i) {
            double const x = first.low + (first.high - first.low) * rowan::detail::uniform_at(*seed, i);
            t.data()[i] = dtype<T>::narrow(static_cast<S>(x));
        }
        value.set(LoDTensor<T, Device>(to_device(exec, std::move(t))));
    };
}

/// Creates a parameter in the outermost scope, so that all steps of a recurrent layer share it. Its value is
/// initialized when training begins, with a seed derived from its position in the net.
/// shapes   [dims...]
/// errors   ShapeError if a dim is UNK; GraphError if the outermost scope already has that name
/// cost     as begin_with
template <class T, class Device = Cpu>
Var<T, Device> parameter(Dims const& dims, Uniform const& first, std::string const& name = "") {
    rowan::detail::check_known(dims);
    Variable& v = rowan::detail::outermost_scope().new_var(name, tensor_spec<T>(dims), Role::parameter);
    begin_with<T, Device>(v, dims, first);
    return Var<T, Device>(v);
}

ROWAN_TEMPLATE(void begin_with<float, Cpu>(Variable&, Dims const&, Uniform const&))
ROWAN_TEMPLATE(Var<float> parameter<float, Cpu>(Dims const&, Uniform const&, std::string const&))
ROWAN_TEMPLATE(void begin_with<double, Cpu>(Variable&, Dims const&, Uniform const&))
ROWAN_TEMPLATE(Var<double> parameter<double, Cpu>(Dims const&, Uniform const&, std::string const&))

}  // namespace rowan::inline v0::layer

#include <rowan/layer/parameter_inl.hpp>
