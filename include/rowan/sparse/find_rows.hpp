// rowan/sparse/find_rows.hpp: find_rows, the positions of row numbers in a table that is a SelectedRows.
#pragma once

#include <rowan/core/copy.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// to[i] = the first position of ids[i] in `rows`, or 0 if it is `skip`; `merged`: the rows are ascending.
/// errors   IndexError if an id is not in [0, height), or is not among the rows
ROWAN_IF_CALLED void find_rows(char const* field, std::span<std::int64_t const> rows, bool merged, std::int64_t height,
                               Ids<> const& ids, std::optional<std::int64_t> skip, std::int64_t* to);

/// to[i] = ids[i] if that is among `rows` or is `skip`, else `unknown`.
/// errors   IndexError if `unknown` is not in [0, height), or is neither among the rows nor `skip`
ROWAN_IF_CALLED void known_rows(std::span<std::int64_t const> rows, bool merged, std::int64_t height, Ids<> const& ids,
                                std::int64_t unknown, std::optional<std::int64_t> skip, std::int64_t* to);

/// find_rows for a table on any device.
template <class T, class I, class D>
Tensor<std::int64_t, D> positions(D const& exec, char const* field, SelectedRows<T, D> const& table,
                                  Tensor<I, D> const& ids, std::optional<std::int64_t> skip = {}) {
    SelectedRows<T, D>::check_value(table.value(), table.rows().size());
    auto const rows = to_host(exec, SelectedRowsAccess::rows(table));
    auto const host = to_host(exec, ids);
    auto found = Tensor<std::int64_t>::from_shape(host.shape());
    find_rows(field, {rows.data(), rows.size()}, table.merged(), table.height(), host, skip, found.data());
    return to_device(exec, std::move(found));
}

}  // namespace detail

/// The position of each id among the rows of a table of which only some rows exist; of rows that occur twice, the
/// first.
///     table.value().row(positions(i))                   // is row ids(i) of the table
/// shapes   ids of any shape -> the same
/// errors   IndexError if an id is not in [0, table.height()), or is not among the rows: `ids[1] = 7 is not a row of
///          the table`; ShapeError if the value of the table does not have a row for each
/// cost     O(n log rows) for n ids if table.merged(), and O(n) if it has all rows besides; else one pass over the row
///          numbers and a hash table of the ids; on a device, row numbers and ids are copied to the host
template <class T, id_type I, device D>
Tensor<std::int64_t, D> find_rows(D const& exec, SelectedRows<T, D> const& table, Tensor<I, D> const& ids) {
    return detail::positions(exec, "ids", table, ids);
}

/// A gradient of a table of which only some rows exist, with positions in the table's value as rows, for optimizers:
///     auto moment = Tensor<float>::zeros(table.value().shape());
///     adagrad(table.value(), moment, find_rows(table, grad));
/// shapes   table and grad of the same height and row shape -> a SelectedRows of height table.rows().size()
/// errors   IndexError if a row of grad is not among the rows of the table: `rows[1] = 7 is not a row of the table`;
///          ShapeError if heights or row shapes differ, or a value does not have a row for each row number
/// cost     that of find_rows for ids, of the rows of grad; the result shares the values of grad
template <class T, class G, device D>
SelectedRows<G, D> find_rows(D const& exec, SelectedRows<T, D> const& table, SelectedRows<G, D> const& grad) {
    using Access = detail::SelectedRowsAccess;
    SelectedRows<G, D>::check_value(grad.value(), grad.rows().size());
    if (grad.height() != table.height()) throw ShapeError("grad.height()", grad.height(), table.height());
    detail::check_trailing("grad.value()", grad.value(), table.value().shape());
    auto found = detail::positions(exec, "rows", table, Access::rows(grad));
    return Access::adopt(static_cast<std::int64_t>(table.rows().size()), std::move(found), grad.value().share());
}

template <class T, id_type I, class Device>
Tensor<std::int64_t, Device> find_rows(SelectedRows<T, Device> const& table, Tensor<I, Device> const& ids) {
    return find_rows(table.device(), table, ids);
}
template <class T, class G, class Device>
SelectedRows<G, Device> find_rows(SelectedRows<T, Device> const& table, SelectedRows<G, Device> const& grad) {
    return find_rows(table.device(), table, grad);
}

}  // namespace rowan::inline v0

#include <rowan/sparse/find_rows_inl.hpp>
