// rowan/graph/detail/gradient_kernels.hpp: GradientKernels, the operators by which gradients are filled and summed.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/table/declared.hpp>

#include <cstdint>
#include <string_view>

namespace rowan::inline v0::detail {

/// The operators by which gradients of one element type are filled, summed and made dense on a device.
struct GradientKernels {
    std::int32_t dtype;  ///< dtype<T>::wire
    std::string_view name;
    op_kernel const &fill, &sum, &to_dense;
};
template <class T, class Device>
GradientKernels gradient_kernels() {
    return {dtype<T>::wire, dtype<T>::name, kernel_of<full_like_op, Device, T>::value,
            kernel_of<sum_op, Device, T>::value, kernel_of<to_dense_op, Device, T>::value};
}

}  // namespace rowan::inline v0::detail

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/elementwise/full_like.hpp>
#include <rowan/op/elementwise/sum.hpp>
#include <rowan/op/table/to_dense.hpp>
#endif
