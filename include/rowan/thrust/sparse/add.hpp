// rowan/thrust/sparse/add.hpp: add on a device.
#pragma once

#include <rowan/sparse/add.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/sparse/scatter_add.hpp>

namespace rowan::inline v0::detail {

template <class System>
struct RowUnion<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T>
    static Tensor<T, Device> joined(Device const& exec, Tensor<T, Device> const& a, Tensor<T, Device> const& b) {
        auto shape = a.shape();
        shape[0] += b.shape()[0];
        auto out = Tensor<T, Device>::from_shape(exec, shape);
        if (a.size() != 0) ThrustSystem<System>::copy(exec, out.data(), a.data(), a.size() * sizeof(T));
        if (b.size() != 0) ThrustSystem<System>::copy(exec, out.data() + a.size(), b.data(), b.size() * sizeof(T));
        return out;
    }
};

}  // namespace rowan::inline v0::detail
