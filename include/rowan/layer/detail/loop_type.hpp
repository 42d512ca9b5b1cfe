// rowan/layer/detail/loop_type.hpp: LoopType, what layers with a net of their own need of an element type and a device.
#pragma once

#include <rowan/graph/detail/gradient_kernels.hpp>
#include <rowan/graph/detail/loop_kernels.hpp>

namespace rowan::inline v0::detail {

/// What a recurrent layer, a loop or a condition needs of the element type of its gradients, on a device.
struct LoopType {
    LoopKernels kernels;
    GradientKernels (*gradients)();

    template <class R, class Device>
    static LoopType of();
};

template <class R, class Device>
LoopType LoopType::of() {
    return {LoopKernels::of<R, Device>(), &gradient_kernels<R, Device>};
}

ROWAN_TEMPLATE(LoopType LoopType::of<float, Cpu>())
ROWAN_TEMPLATE(LoopType LoopType::of<double, Cpu>())

}  // namespace rowan::inline v0::detail
