// rowan/layer/parameter.hpp: layer::parameter, a trainable variable, and its initialization.
#pragma once

#include <rowan/detail/elementwise.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/layer/initializer.hpp>
#include <rowan/layer/var.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// The outermost scope that encloses the default scope: all steps of a recurrent layer share its variables.
Scope& outermost_scope();

void check_known(Dims const& dims);

/// errors   GraphError if the name has an @, as those of optimizer states
void check_parameter_name(std::string const& name);

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Sets the dims and the initialization of a parameter. The initial values are computed on the host.
/// errors   ShapeError if a dim is UNK; ValueError if a number of `first` is not finite or a standard deviation is
///          negative
/// cost     O(1); when training begins, one write of the elements, and on a device one copy to it
template <class T, class Device = Cpu>
void begin_with(Variable& v, Dims const& dims, Initializer const& first) {
    rowan::detail::check_known(dims);
    typename Tensor<T>::shape_type shape;
    for (std::int64_t const dim : dims) shape.push_back(static_cast<std::size_t>(dim));
    Initializer const values = first.of(dims);
    v.set_dims(dims);
    v.bring = &rowan::detail::bring<T, Device>;
    v.initialize = [shape, values](Value& value, std::optional<std::uint64_t> seed, AnyExec any) {
        Device const exec = any.or_default<Device>();
        if (!seed) return value.set(LoDTensor<T, Device>(rowan::detail::new_tensor<T>(exec, shape)));
        auto t = Tensor<T>::from_shape(shape);
        using S = typename dtype<T>::sum;
        Cpu host{};
        if constexpr (std::is_same_v<Device, Cpu>) host = exec;
        rowan::detail::for_ranges(host, t.size(), 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                t.data()[i] = dtype<T>::narrow(static_cast<S>(values.at(*seed, i)));
        });
        value.set(LoDTensor<T, Device>(to_device(exec, std::move(t))));
    };
}

/// Creates a parameter in the outermost scope, so that all steps of a recurrent layer share it. Its value is
/// initialized when training begins, with a seed derived from its position in the net.
/// shapes   [dims...]
/// errors   as begin_with; GraphError if the outermost scope already has that name, or it has an @
/// cost     as begin_with
template <class T = float, class Device = Cpu>
Var<T, Device> parameter(Dims const& dims, Initializer const& first, std::string const& name = "") {
    rowan::detail::check_known(dims);
    rowan::detail::check_parameter_name(name);
    static_cast<void>(first.of(dims));  // throws before anything is created
    Variable& v = rowan::detail::outermost_scope().new_var(name, tensor_spec<T>(dims), Role::parameter);
    begin_with<T, Device>(v, dims, first);
    return Var<T, Device>(v);
}

ROWAN_TEMPLATE(void begin_with<float, Cpu>(Variable&, Dims const&, Initializer const&))
ROWAN_TEMPLATE(Var<float> parameter<float, Cpu>(Dims const&, Initializer const&, std::string const&))
ROWAN_TEMPLATE(void begin_with<double, Cpu>(Variable&, Dims const&, Initializer const&))
ROWAN_TEMPLATE(Var<double> parameter<double, Cpu>(Dims const&, Initializer const&, std::string const&))

}  // namespace rowan::inline v0::layer

#include <rowan/layer/parameter_inl.hpp>
