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
ROWAN_IF_CALLED Scope& outermost_scope();

/// errors   ShapeError if a dim is UNK
ROWAN_IF_CALLED void check_known(Dims const& dims);

/// errors   GraphError if the name has an @, as those of optimizer states
ROWAN_IF_CALLED void check_parameter_name(std::string const& name);

/// The name of a parameter of a layer, such as fc_1.w_0; of a layer without a name none.
ROWAN_IF_CALLED std::string parameter_name(std::string const& layer, char const* slot);

/// Removes what a layer has added if it throws: parameters from the outermost scope, operators from that of the step.
class LayerRollback {
public:
    ROWAN_IF_CALLED LayerRollback();
    void keep() noexcept {
        parameters_.keep();
        operators_.keep();
    }

private:
    ScopeRollback parameters_, operators_;
};

/// On the host, the first values of a parameter, of which element i is that at position at(i) of a whole one; without a
/// seed, any.
template <class T, class Device, class At>
Tensor<T> first_values(AnyExec exec, typename Tensor<T>::shape_type const& shape, layer::Initializer const& first,
                       std::optional<std::uint64_t> seed, At const& at) {
    auto t = Tensor<T>::from_shape(shape);
    Cpu host{};
    if constexpr (std::is_same_v<Device, Cpu>) host = exec.or_default<Device>();
    for_ranges(host, seed ? t.size() : 0, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            t.data()[i] = dtype<T>::narrow(static_cast<typename dtype<T>::sum>(first.at(*seed, at(i))));
    });
    return t;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Sets the dims and the initialization of a parameter. The initial values are computed on the host.
/// errors   ShapeError if a dim is UNK; ValueError if a number of `first` is not finite or a standard deviation is
///          negative
/// cost     O(1); when training begins, one write of the elements, and on a device one copy to it
template <class T, class Device = Cpu>
void begin_with(Variable& v, Dims const& dims, Initializer const& first) {
    rowan::detail::check_known(dims);
    typename Tensor<T>::shape_type sizes;
    for (std::int64_t const dim : dims) sizes.push_back(static_cast<std::size_t>(dim));
    Initializer const values = first.of(dims);
    v.set_dims(dims);
    v.bring = rowan::detail::bring_to<T, Device>();
    v.initialize = [sizes, values](Value& value, std::optional<std::uint64_t> seed, AnyExec any) {
        Device const exec = any.or_default<Device>();
        if (!seed) return value.set(LoDTensor<T, Device>(rowan::detail::new_tensor<T>(exec, sizes)));
        auto t = rowan::detail::first_values<T, Device>(any, sizes, values, seed, [](std::size_t i) { return i; });
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
