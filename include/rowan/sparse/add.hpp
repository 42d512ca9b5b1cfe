// rowan/sparse/add.hpp: add, sums of row-sparse and dense tensors.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/sparse/detail/summed_rows.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

template <class T, class D>
void check_addable(SelectedRows<T, D> const& a, SelectedRows<T, D> const& b) {
    SelectedRows<T, D>::check_value(a.value(), a.rows().size());
    SelectedRows<T, D>::check_value(b.value(), b.rows().size());
    if (a.height() != b.height()) throw ShapeError("b.height()", b.height(), a.height());
    check_trailing("b.value()", b.value(), a.value().shape());
}

template <class T, class U, class D>
void check_dense_term(Tensor<T, D> const& dense, SelectedRows<U, D> const& g) {
    SelectedRows<U, D>::check_value(g.value(), g.rows().size());
    check_height("dense", dense, g.height());
    check_trailing("dense", dense, g.value().shape());
}

/// Joins the rows of two gradients.
template <class D>
struct RowUnion {
    static_assert(has_backend<D>, "rowan: add on a Thrust device needs #include <rowan/thrust/sparse/add.hpp>");
};

template <>
struct RowUnion<Cpu> {
    /// The rows of `a` followed by those of `b`.
    template <class T>
    static Tensor<T> joined(Cpu, Tensor<T> const& a, Tensor<T> const& b) {
        auto shape = a.shape();
        shape[0] += b.shape()[0];
        auto out = Tensor<T>::from_shape(shape);
        std::copy_n(b.data(), b.size(), std::copy_n(a.data(), a.size(), out.data()));
        return out;
    }
};

}  // namespace detail

/// The sum of `a` and `b`, not merged: the rows of `a` followed by those of `b`. On a Thrust device the result is
/// merged() only if one of a and b has no rows and the other is merged().
/// shapes   a and b of the same height and row shape
/// errors   ShapeError if heights or row shapes differ
/// cost     O((n + m) * width)
template <class T, device D>
SelectedRows<T, D> add(D const& exec, SelectedRows<T, D> const& a, SelectedRows<T, D> const& b) {
    using Access = detail::SelectedRowsAccess;
    detail::check_exec(exec);
    detail::check_addable(a, b);
    detail::ElementLoops<D>::check(exec, a.rows(), a.value(), b.rows(), b.value());
    bool const merged = (b.rows().size() == 0 && a.merged()) || (a.rows().size() == 0 && b.merged());
    auto rows = detail::RowUnion<D>::joined(exec, Access::rows(a), Access::rows(b));
    return Access::adopt(a.height(), std::move(rows), detail::RowUnion<D>::joined(exec, a.value(), b.value()), merged);
}

/// The dense sum: a copy of `dense`, to which the rows of `g` are added as by scatter_add; where dtype<T>::sum is
/// another type than T, the sums of duplicates, as in merge, so that each element is narrowed once.
/// shapes   dense has the shape of g
/// errors   ShapeError if shapes do not match
/// cost     O(height * width + n * width), and a sort if duplicates are summed
template <class T, class U, device D>
Tensor<T, D> add(D const& exec, Tensor<T, D> const& dense, SelectedRows<U, D> const& g) {
    detail::check_addition<T, U>();
    detail::check_dense_term(dense, g);
    detail::ElementLoops<D>::check(exec, dense);
    auto sum = detail::ElementLoops<D>::copy(exec, dense);
    detail::add_sums(exec, sum, g, detail::most_serial<T>);
    return sum;
}

template <class T, class U, device D>
Tensor<U, D> add(D const& exec, SelectedRows<T, D> const& g, Tensor<U, D> const& dense) {
    return add(exec, dense, g);
}

template <class T, class Device>
SelectedRows<T, Device> add(SelectedRows<T, Device> const& a, SelectedRows<T, Device> const& b) {
    return add(a.device(), a, b);
}

template <class T, class U, class Device>
Tensor<T, Device> add(Tensor<T, Device> const& dense, SelectedRows<U, Device> const& g) {
    return add(dense.device(), dense, g);
}

template <class T, class U, class Device>
Tensor<U, Device> add(SelectedRows<T, Device> const& g, Tensor<U, Device> const& dense) {
    return add(g.device(), dense, g);
}

ROWAN_TEMPLATE(SelectedRows<float> add(Cpu const&, SelectedRows<float> const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(Tensor<float> add(Cpu const&, Tensor<float> const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(Tensor<float> add(Cpu const&, SelectedRows<float> const&, Tensor<float> const&))
ROWAN_TEMPLATE(SelectedRows<double> add(Cpu const&, SelectedRows<double> const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(Tensor<double> add(Cpu const&, Tensor<double> const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(Tensor<double> add(Cpu const&, SelectedRows<double> const&, Tensor<double> const&))

}  // namespace rowan::inline v0
