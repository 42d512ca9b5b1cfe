// rowan/layer/data.hpp: layer::data, a variable that is fed.
#pragma once

#include <rowan/graph/detail/device_values.hpp>
#include <rowan/layer/var.hpp>

#include <cstddef>
#include <string>

namespace rowan::inline v0::layer {

/// A variable of the default scope that every batch brings under this name. For a net on a device a batch may bring tensors of the host,
/// which are copied.
///     auto words = layer::data<std::int64_t>("words", {UNK}, 1);      // sentences: one level of sequences
/// shapes   [dims...], UNK where batches differ
/// errors   GraphError if the scope has that name already
/// cost     none: a batch's value is an alias; one of the host for a device is copied
template <class T = float, class Device = Cpu>
Var<T, Device> data(std::string const& name, Dims const& dims, std::size_t lod_level = 0) {
    Variable& v = default_scope().new_var(name, tensor_spec<T>(dims, lod_level), Role::data);
    v.bring = &rowan::detail::bring<T, Device>;
    return Var<T, Device>(v);
}

ROWAN_TEMPLATE(Var<float> data<float, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<double> data<double, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<std::int32_t> data<std::int32_t, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<std::int64_t> data<std::int64_t, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<bool> data<bool, Cpu>(std::string const&, Dims const&, std::size_t))

}  // namespace rowan::inline v0::layer
