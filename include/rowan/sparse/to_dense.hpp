// rowan/sparse/to_dense.hpp: to_dense, the dense tensor that a SelectedRows represents.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/sparse/detail/summed_rows.hpp>
#include <rowan/sparse/selected_rows.hpp>

namespace rowan::inline v0 {

/// A tensor of zeros of shape g.shape(), to which the sums of the rows of `g` are added: in the order of merge, in
/// dtype<T>::sum, each narrowed once. So to_dense(g) has the bits of to_dense(merge(g)).
/// shapes   g -> [height, ...]
/// errors   ShapeError if the result exceeds 2^63 - 1 bytes; std::bad_alloc if memory is insufficient
/// cost     O(height * width + n * width); a sort as in merge only if a row occurs more than 64 times, or twice where
///          dtype<T>::sum is another type than T (not for integers)
template <class T, device D>
Tensor<T, D> to_dense(D const& exec, SelectedRows<T, D> const& g) {
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    auto dense = Tensor<T, D>::zeros(exec, g.shape());
    detail::add_sums(exec, dense, g, detail::most_as_merged<T>);
    return dense;
}

template <class T, class Device>
Tensor<T, Device> to_dense(SelectedRows<T, Device> const& g) {
    return to_dense(g.device(), g);
}

ROWAN_TEMPLATE(Tensor<float> to_dense(Cpu const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(Tensor<double> to_dense(Cpu const&, SelectedRows<double> const&))

}  // namespace rowan::inline v0
