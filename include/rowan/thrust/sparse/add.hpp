// rowan/thrust/sparse/add.hpp: add on a device.
#pragma once

#include <rowan/sparse/add.hpp>
#include <rowan/thrust/detail/kept.hpp>
#include <rowan/thrust/sparse/scatter_add.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// The rows of `a` followed by those of `b`.
template <class System, class T>
Tensor<T, ThrustDevice<System>> joined_rows(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& a,
                                            Tensor<T, ThrustDevice<System>> const& b) {
    auto shape = a.shape();
    shape[0] += b.shape()[0];
    auto out = Tensor<T, ThrustDevice<System>>::from_shape(exec, shape);
    if (a.size() != 0) ThrustSystem<System>::copy(exec, out.data(), a.data(), a.size() * sizeof(T));
    if (b.size() != 0) ThrustSystem<System>::copy(exec, out.data() + a.size(), b.data(), b.size() * sizeof(T));
    return out;
}

}  // namespace detail

/// As on the host, except that the result is merged() only if one of a and b has no rows and the other is merged().
template <class T, class System>
SelectedRows<T, ThrustDevice<System>> add(ThrustDevice<System> const& exec,
                                          SelectedRows<T, ThrustDevice<System>> const& a,
                                          SelectedRows<T, ThrustDevice<System>> const& b) {
    detail::check_addable(a, b);
    detail::check_here(exec, a.rows(), a.value(), b.rows(), b.value());
    bool const merged = (b.rows().size() == 0 && a.merged()) || (a.rows().size() == 0 && b.merged());
    auto rows = detail::joined_rows(exec, a.rows(), b.rows());
    return detail::SelectedRowsAccess::adopt(a.height(), std::move(rows),
                                             detail::joined_rows(exec, a.value(), b.value()), merged);
}

/// As on the host, except that duplicates are summed first, as in scatter_add on a device.
template <class T, class U, class System>
Tensor<T, ThrustDevice<System>> add(ThrustDevice<System> const& exec, Tensor<T, ThrustDevice<System>> const& dense,
                                    SelectedRows<U, ThrustDevice<System>> const& g) {
    detail::check_dense_term(dense, g);
    detail::check_here(exec, dense);
    auto sum = detail::copy_of(exec, dense);
    scatter_add(exec, sum, g);
    return sum;
}

template <class T, class U, class System>
Tensor<U, ThrustDevice<System>> add(ThrustDevice<System> const& exec, SelectedRows<T, ThrustDevice<System>> const& g,
                                    Tensor<U, ThrustDevice<System>> const& dense) {
    return add(exec, dense, g);
}

}  // namespace rowan::inline v0
