// rowan/sparse/gather.hpp: gather, the rows of a table at given ids.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>

#include <cstddef>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

template <class Shape>
Shape gathered_shape(Shape const& ids, Shape const& table) {
    Shape shape = ids;
    shape.insert(shape.end(), table.begin() + 1, table.end());
    return shape;
}

template <class T>
void gather_rows(Cpu exec, Tensor<T> const& table, Ids<> const& ids, T* out) {
    std::size_t const width = table.row_size();
    T const* const rows = table.data();
    ids.visit([&](auto list) {
        auto const row = [=](std::size_t i) { return rows + static_cast<std::size_t>(list[i]) * width; };
        copy_rows(exec, list.size(), width * sizeof(T), row, [=](std::size_t i) { return out + i * width; });
    });
}

}  // namespace detail

/// Writes row `ids[i]` of `table` to row i of `out`.
/// shapes   table [height, ...], ids of any shape, out ids.shape + table.shape[1:]
/// errors   ShapeError if table has rank 0 or out has another shape; IndexError if an id is not in [0, height); Error
///          if out shares memory with table or ids
/// cost     O(n * width), one read and one write of n rows, no allocation
template <class T>
void gather_into(Cpu exec, Tensor<T> const& table, Ids<> ids, Tensor<T>& out) {
    detail::check_rows("table", table);
    auto const shape = detail::gathered_shape(ids.shape(), table.shape());
    if (out.shape() != shape)
        throw ShapeError("out.shape()", detail::shape_text(out.shape()), detail::shape_text(shape));
    detail::check_ids(exec, "ids", ids, detail::height_of(table));
    detail::check_apart("out", detail::bytes_of(out), "ids", ids.bytes());
    detail::check_apart("out", detail::bytes_of(out), "table", detail::bytes_of(table));
    detail::gather_rows(exec, table, ids, out.data());
}

/// The rows of `table` at `ids`, in the order of `ids`: the forward pass of an embedding.
/// shapes   table [height, ...], ids of any shape -> ids.shape + table.shape[1:]
/// errors   as gather_into
/// cost     as gather_into, and one allocation for the result
template <class T>
Tensor<T> gather(Cpu exec, Tensor<T> const& table, Ids<> ids) {
    detail::check_rows("table", table);
    detail::check_ids(exec, "ids", ids, detail::height_of(table));
    auto out = Tensor<T>::from_shape(detail::gathered_shape(ids.shape(), table.shape()));
    detail::gather_rows(exec, table, ids, out.data());
    return out;
}

template <class T, class Device>
void gather_into(Tensor<T, Device> const& table, std::type_identity_t<Ids<Device>> ids, Tensor<T, Device>& out) {
    gather_into(Device{}, table, ids, out);
}

template <class T, class Device>
Tensor<T, Device> gather(Tensor<T, Device> const& table, std::type_identity_t<Ids<Device>> ids) {
    return gather(Device{}, table, ids);
}

ROWAN_TEMPLATE(void gather_into(Cpu, Tensor<float> const&, Ids<>, Tensor<float>&))
ROWAN_TEMPLATE(Tensor<float> gather(Cpu, Tensor<float> const&, Ids<>))
ROWAN_TEMPLATE(void gather_into(Cpu, Tensor<double> const&, Ids<>, Tensor<double>&))
ROWAN_TEMPLATE(Tensor<double> gather(Cpu, Tensor<double> const&, Ids<>))

}  // namespace rowan::inline v0
