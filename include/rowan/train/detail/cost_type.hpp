// rowan/train/detail/cost_type.hpp: CostType, what training asks of the element type of a cost.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>

namespace rowan::inline v0::detail {

/// What training asks of the element type of a cost, on a device.
struct CostType {
    GradientKernels gradients;
    double (*first)(Value const& cost, AnyExec exec);  // the first element
};
template <class T, class Device>
double cost_as_double(Value const& cost, AnyExec exec) {
    return static_cast<double>(
        dtype<T>::widen(first_element(exec.get<Device>(), cost.get<LoDTensor<T, Device>>().value())));
}
template <class T, class Device>
CostType cost_type() {
    return {gradient_kernels<T, Device>(), &cost_as_double<T, Device>};
}
ROWAN_TEMPLATE(CostType cost_type<float, Cpu>())
ROWAN_TEMPLATE(CostType cost_type<double, Cpu>())

}  // namespace rowan::inline v0::detail
