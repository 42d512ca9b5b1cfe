// rowan/core/detail/tensor_instances.hpp: the Tensors of less common elements that the compiled library has.
#pragma once

#include <rowan/core/tensor.hpp>

#include <cstdint>

namespace rowan::inline v0 {

// A file that uses few of these types does not pay for their declarations: without them, it compiles what it calls.
ROWAN_TEMPLATE(class Tensor<double>)
ROWAN_TEMPLATE(void Tensor<double>::resize(Tensor<double>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<std::int32_t>)
ROWAN_TEMPLATE(void Tensor<std::int32_t>::resize(Tensor<std::int32_t>::shape_type const&, bool))
ROWAN_TEMPLATE(class Tensor<bool>)
ROWAN_TEMPLATE(void Tensor<bool>::resize(Tensor<bool>::shape_type const&, bool))

}  // namespace rowan::inline v0
