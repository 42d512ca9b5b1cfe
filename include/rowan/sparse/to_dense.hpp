// rowan/sparse/to_dense.hpp: to_dense, the tall tensor that some rows stand for.
#pragma once

#include <rowan/sparse/scatter_add.hpp>
#include <rowan/sparse/selected_rows.hpp>

namespace rowan::inline v0 {

/// Zeros of g.shape() to which the rows of `g` are added in order.
/// shapes   [height, ...]
/// errors   ShapeError if height times row size does not fit 63 bits; std::bad_alloc if there is no such memory
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
