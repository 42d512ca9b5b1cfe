// rowan/sparse/lookup_table_grad.hpp: lookup_table_grad, the gradient of gather with respect to its table.
#pragma once

#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// Checks that a tensor has a row for each of `of`, such as ids, which have this shape.
template <class Shape, class T, class D>
void check_row_for_each(char const* of, Shape const& ids, char const* field, Tensor<T, D> const& rows) {
    auto const& shape = rows.shape();
    if (shape.size() < ids.size() || !std::equal(ids.begin(), ids.end(), shape.begin())) {
        throw ShapeError({field, ".shape()"}, shape_text(shape),
                         {"to begin with ", shape_text(ids), ", the shape of ", of});
    }
}

template <class Shape, class T, class D>
void check_looked_up(Shape const& ids, Tensor<T, D> const& out_grad, std::optional<std::int64_t> padding_id,
                     std::int64_t height) {
    check_row_for_each("ids", ids, "out_grad", out_grad);
    if (padding_id && (*padding_id < 0 || *padding_id >= height)) throw IndexError("padding_id", *padding_id, height);
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

/// Whether rows[k] is not the padding.
struct IsNotPadding {
    std::int64_t const* rows;
    std::int64_t padding;
    ROWAN_HD bool operator()(std::size_t k) const { return rows[k] != padding; }
};

}  // namespace detail

/// The gradient of `gather(table, ids)` with respect to the table, as SelectedRows: row `ids[i]` has the value
/// `out_grad[i]`. Duplicates are kept, in input order. Ids equal to `padding_id` are omitted; then a Thrust device
/// synchronizes once to get the number of rows, and throws the IndexError of a bad id itself.
/// shapes   ids of any shape, out_grad ids.shape + [...] -> a SelectedRows of that height and the row shape [...]
/// errors   ShapeError if height is negative, out_grad does not begin with ids.shape, or the value would have more than
///          8 dims; IndexError if an id or padding_id is not in [0, height)
/// cost     O(n) without padding_id, because out_grad becomes the value without a copy: pass it with std::move or as
///          out_grad.share(); O(n * width) with padding_id
template <class T, device D>
SelectedRows<T, D> lookup_table_grad(D const& exec, std::type_identity_t<Ids<D>> ids, Tensor<T, D> out_grad,
                                     Height height, std::optional<std::int64_t> padding_id = std::nullopt) {
    using Access = detail::SelectedRowsAccess;
    detail::check_looked_up(ids.shape(), out_grad, padding_id, height);
    detail::ElementLoops<D>::check(exec, out_grad);
    auto rows = detail::RowNumbers<D>::checked(exec, "ids", ids, height);
    auto value = detail::looked_up_rows(ids.shape(), std::move(out_grad));
    if (!padding_id) return Access::adopt(height, std::move(rows), std::move(value));

    auto const kept = detail::RowGather<D>::where(exec, rows.size(), detail::IsNotPadding{rows.data(), *padding_id});
    return Access::adopt(height, detail::rows_at(exec, rows, kept), detail::rows_at(exec, value, kept));
}

template <class T, class Device>
SelectedRows<T, Device> lookup_table_grad(std::type_identity_t<Ids<Device>> ids, Tensor<T, Device> out_grad,
                                          Height height, std::optional<std::int64_t> padding_id = std::nullopt) {
    Device const exec = out_grad.device();
    return lookup_table_grad(exec, ids, std::move(out_grad), height, padding_id);
}

ROWAN_TEMPLATE(SelectedRows<float> lookup_table_grad(Cpu const&, Ids<>, Tensor<float>, Height,
                                                     std::optional<std::int64_t>))
ROWAN_TEMPLATE(SelectedRows<double> lookup_table_grad(Cpu const&, Ids<>, Tensor<double>, Height,
                                                      std::optional<std::int64_t>))

}  // namespace rowan::inline v0
