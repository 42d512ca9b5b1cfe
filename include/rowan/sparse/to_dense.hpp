// rowan/sparse/to_dense.hpp: to_dense, the dense tensor that a SelectedRows represents.
#pragma once

#include <rowan/sparse/scatter_add.hpp>
#include <rowan/sparse/selected_rows.hpp>

namespace rowan::inline v0 {

/// A tensor of zeros of shape g.shape(), to which the rows of `g` are added in input order.
/// shapes   g -> [height, ...]
/// errors   ShapeError if the result exceeds 2^63 - 1 bytes; std::bad_alloc if memory is insufficient
/// cost     O(height * width + n * width)
template <class T>
Tensor<T> to_dense(Cpu exec, SelectedRows<T> const& g) {
    SelectedRows<T>::check_value(g.value(), g.rows().size());
    auto dense = Tensor<T>::zeros(g.shape());
    scatter_add(exec, dense, g);
    return dense;
}

template <class T, class Device>
Tensor<T, Device> to_dense(SelectedRows<T, Device> const& g) {
    return to_dense(Device{}, g);
}

ROWAN_TEMPLATE(Tensor<float> to_dense(Cpu, SelectedRows<float> const&))
ROWAN_TEMPLATE(Tensor<double> to_dense(Cpu, SelectedRows<double> const&))

}  // namespace rowan::inline v0
