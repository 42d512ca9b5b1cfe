// rowan/sparse/add.hpp: add, sums of row-sparse and dense tensors.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/sparse/scatter_add.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

template <class T, class D>
void check_addable(SelectedRows<T, D> const& a, SelectedRows<T, D> const& b) {
    SelectedRows<T, D>::check_value(a.value(), a.rows().size());
    SelectedRows<T, D>::check_value(b.value(), b.rows().size());
    if (a.height() != b.height())
        throw ShapeError("b.height()", std::to_string(b.height()), std::to_string(a.height()));
    check_trailing("b.value()", b.value(), a.value().shape());
}

template <class T, class U, class D>
void check_dense_term(Tensor<T, D> const& dense, SelectedRows<U, D> const& g) {
    SelectedRows<U, D>::check_value(g.value(), g.rows().size());
    check_height("dense", dense, g.height());
    check_trailing("dense", dense, g.value().shape());
}

}  // namespace detail

/// The sum of `a` and `b`, not merged: the rows of `a` followed by those of `b`.
/// shapes   a and b of the same height and row shape
/// errors   ShapeError if heights or row shapes differ
/// cost     O((n + m) * width)
template <class T>
SelectedRows<T> add(Cpu exec, SelectedRows<T> const& a, SelectedRows<T> const& b) {
    static_cast<void>(thread_count(exec));  // validates exec.threads
    detail::check_addable(a, b);
    std::vector<std::int64_t> rows(a.rows().begin(), a.rows().end());
    rows.insert(rows.end(), b.rows().begin(), b.rows().end());
    auto shape = a.value().shape();
    shape[0] = rows.size();
    auto value = Tensor<T>::from_shape(shape);
    std::copy_n(b.value().data(), b.value().size(), std::copy_n(a.value().data(), a.value().size(), value.data()));
    return detail::SelectedRowsAccess::make(a.height(), rows, std::move(value));
}

/// The dense sum: a copy of `dense`, to which the rows of `g` are added in input order.
/// shapes   dense has the shape of g
/// errors   ShapeError if shapes do not match
/// cost     O(height * width + n * width)
template <class T, class U>
Tensor<T> add(Cpu exec, Tensor<T> const& dense, SelectedRows<U> const& g) {
    detail::check_dense_term(dense, g);
    Tensor<T> sum = dense;
    scatter_add(exec, sum, g);
    return sum;
}

template <class T, class U>
Tensor<U> add(Cpu exec, SelectedRows<T> const& g, Tensor<U> const& dense) {
    return add(exec, dense, g);
}

template <class T, class Device>
SelectedRows<T, Device> add(SelectedRows<T, Device> const& a, SelectedRows<T, Device> const& b) {
    return add(Device{}, a, b);
}

template <class T, class U, class Device>
Tensor<T, Device> add(Tensor<T, Device> const& dense, SelectedRows<U, Device> const& g) {
    return add(Device{}, dense, g);
}

template <class T, class U, class Device>
Tensor<U, Device> add(SelectedRows<T, Device> const& g, Tensor<U, Device> const& dense) {
    return add(Device{}, dense, g);
}

ROWAN_TEMPLATE(SelectedRows<float> add(Cpu, SelectedRows<float> const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(Tensor<float> add(Cpu, Tensor<float> const&, SelectedRows<float> const&))
ROWAN_TEMPLATE(Tensor<float> add(Cpu, SelectedRows<float> const&, Tensor<float> const&))
ROWAN_TEMPLATE(SelectedRows<double> add(Cpu, SelectedRows<double> const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(Tensor<double> add(Cpu, Tensor<double> const&, SelectedRows<double> const&))
ROWAN_TEMPLATE(Tensor<double> add(Cpu, SelectedRows<double> const&, Tensor<double> const&))

}  // namespace rowan::inline v0
