// rowan/thrust/sparse/to_dense.hpp: to_dense on a device.
#pragma once

#include <rowan/sparse/to_dense.hpp>
#include <rowan/thrust/sparse/scatter_add.hpp>

namespace rowan::inline v0 {

/// As on the host, except that duplicates are summed first, as in scatter_add on a device.
/// cost     one write of zeros, and a scatter_add
template <class T, class System>
Tensor<T, ThrustDevice<System>> to_dense(ThrustDevice<System> const& exec,
                                         SelectedRows<T, ThrustDevice<System>> const& g) {
    SelectedRows<T, ThrustDevice<System>>::check_value(g.value(), g.rows().size());
    auto dense = Tensor<T, ThrustDevice<System>>::zeros(exec, g.shape());
    scatter_add(exec, dense, g);
    return dense;
}

}  // namespace rowan::inline v0
