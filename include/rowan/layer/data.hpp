// rowan/layer/data.hpp: layer::data, a variable that is fed.
#pragma once

#include <rowan/layer/var.hpp>

#include <cstddef>
#include <string>

namespace rowan::inline v0::layer {

/// A variable of the default scope that every batch brings under this name.
///     auto words = layer::data<std::int64_t>("words", {UNK}, 1);      // sentences: one level of sequences
/// errors   GraphError if the scope has that name already
template <class T = float, class Device = Cpu>
Var<T, Device> data(std::string const& name, Dims const& dims, std::size_t lod_level = 0) {
    return Var<T, Device>(default_scope().new_var(name, tensor_spec<T>(dims, lod_level), Role::data));
}

}  // namespace rowan::inline v0::layer
