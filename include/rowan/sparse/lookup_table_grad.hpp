// rowan/sparse/lookup_table_grad.hpp: lookup_table_grad, the gradient of gather with respect to its table.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

template <class Shape, class T, class D>
void check_looked_up(Shape const& ids, Tensor<T, D> const& out_grad, std::optional<std::int64_t> padding_id,
                     std::int64_t height) {
    auto const& shape = out_grad.shape();
    if (shape.size() < ids.size() || !std::equal(ids.begin(), ids.end(), shape.begin())) {
        throw ShapeError("out_grad.shape()", shape_text(shape),
                         "to begin with " + shape_text(ids) + ", the shape of ids");
    }
    if (padding_id && (*padding_id < 0 || *padding_id >= height))
        throw IndexError("padding_id", 0, *padding_id, height);
}

/// out_grad reshaped to one row per id.
template <class Shape, class T, class D>
Tensor<T, D> looked_up_rows(Shape const& ids, Tensor<T, D> out_grad) {
    if (ids.size() == 1) return out_grad;
    auto const& shape = out_grad.shape();
    Shape rows;
    rows.push_back(product_from(ids, 0));
    for (std::size_t i = ids.size(); i < shape.size(); ++i) rows.push_back(shape[i]);
    return out_grad.reshaped(rows);
}

}  // namespace detail

/// The gradient of `gather(table, ids)` with respect to the table, as SelectedRows: row `ids[i]` has the value
/// `out_grad[i]`. Duplicates are kept, in input order. Ids equal to `padding_id` are omitted.
/// shapes   ids of any shape, out_grad ids.shape + [...] -> a SelectedRows of that height and the row shape [...]
/// errors   ShapeError if height is negative, out_grad does not begin with ids.shape, or the value would have more than
///          8 dims; IndexError if an id or padding_id is not in [0, height)
/// cost     O(n) without padding_id, because out_grad becomes the value without a copy: pass it with std::move or as
///          out_grad.share(); O(n * width) with padding_id
template <class T>
SelectedRows<T> lookup_table_grad(Cpu exec, Ids<> ids, Tensor<T> out_grad, Height height,
                                  std::optional<std::int64_t> padding_id = std::nullopt) {
    detail::check_looked_up(ids.shape(), out_grad, padding_id, height);
    detail::check_ids(exec, "ids", ids, height);
    Tensor<T> value = detail::looked_up_rows(ids.shape(), std::move(out_grad));
    if (!padding_id) return detail::SelectedRowsAccess::make(height, ids, std::move(value));

    detail::Buffer<std::int64_t> kept;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] != *padding_id) kept.push_back(ids[i]);
    }
    auto shape = value.shape();
    shape[0] = kept.size();
    auto kept_value = Tensor<T>::from_shape(shape);
    std::size_t const width = value.row_size();
    T* to = kept_value.data();
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] != *padding_id) to = std::copy_n(value.data() + i * width, width, to);
    }
    return detail::SelectedRowsAccess::make(height, kept, std::move(kept_value));
}

template <class T, class Device>
SelectedRows<T, Device> lookup_table_grad(std::type_identity_t<Ids<Device>> ids, Tensor<T, Device> out_grad,
                                          Height height, std::optional<std::int64_t> padding_id = std::nullopt) {
    return lookup_table_grad(Device{}, ids, std::move(out_grad), height, padding_id);
}

ROWAN_TEMPLATE(SelectedRows<float> lookup_table_grad(Cpu, Ids<>, Tensor<float>, Height, std::optional<std::int64_t>))
ROWAN_TEMPLATE(SelectedRows<double> lookup_table_grad(Cpu, Ids<>, Tensor<double>, Height, std::optional<std::int64_t>))

}  // namespace rowan::inline v0
