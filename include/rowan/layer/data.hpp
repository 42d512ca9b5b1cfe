// rowan/layer/data.hpp: layer::data, an input variable of a net.
#pragma once

#include <rowan/graph/detail/device_values.hpp>
#include <rowan/layer/var.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace rowan::inline v0::layer {

/// The levels of sequences of an input.
struct LevelOptions {
    std::size_t lod_level = 0;  ///< 1: a batch of sequences
};

/// Declares an input variable of the default scope; batches set its value under this name. For a net on a device, a
/// batch may contain host tensors, which are copied to the device.
///     auto words = layer::data<std::int64_t>("words", {UNK}, {.lod_level = 1});    // sentences: one level of sequences
///     auto users = layer::data<std::string>("users", {UNK});                       // keys of tables: see layer::Keyed
/// shapes   [dims...], UNK for dims that vary from batch to batch
/// errors   GraphError if the scope already has that name; ShapeError if the rank of strings is not 1
/// cost     O(1); a batch's value is aliased, a host value for a device is copied
template <class T = float, class Device = Cpu>
Var<T, Device> data(std::string const& name, Dims const& dims, std::size_t lod_level = 0) {
    if constexpr (std::is_same_v<T, std::string>) {
        return Var<T, Device>(default_scope().new_var(name, strings_spec(dims, lod_level), Role::data));
    } else {
        Variable& v = default_scope().new_var(name, tensor_spec<T>(dims, lod_level), Role::data);
        v.bring = rowan::detail::bring_to<T, Device>();
        return Var<T, Device>(v);
    }
}
template <class T = float, class Device = Cpu>
Var<T, Device> data(std::string const& name, Dims const& dims, LevelOptions const& options) {
    return data<T, Device>(name, dims, options.lod_level);
}

ROWAN_TEMPLATE(Var<float> data<float, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<double> data<double, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<std::int32_t> data<std::int32_t, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<std::int64_t> data<std::int64_t, Cpu>(std::string const&, Dims const&, std::size_t))
ROWAN_TEMPLATE(Var<bool> data<bool, Cpu>(std::string const&, Dims const&, std::size_t))

}  // namespace rowan::inline v0::layer
