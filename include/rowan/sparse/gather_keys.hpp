// rowan/sparse/gather_keys.hpp: gather by keys, the rows of a table that belong to keys.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/key_index.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

/// Writes the row of each key to `out`, and zeros for a key that has no row.
/// shapes   table [height, ...] of at least index.height() rows, keys of any shape, out keys.shape + table.shape[1:]
/// errors   ShapeError if table has rank 0 or fewer rows, or out has another shape; Error if out shares memory with
///          table
/// cost     that of index.find and of gather_into; two passes, since both wait for memory: a pass that asks for each row
///          as soon as its number is known takes as long
template <class T, key_type Key>
void gather_into(Cpu exec, Tensor<T> const& table, KeyIndex<Key> const& index, std::type_identity_t<Keys<Key>> keys,
                 Tensor<T>& out) {
    detail::check_rows("table", table);
    if (std::cmp_less(table.shape()[0], index.height()))
        throw ShapeError("table.shape(0)", table.shape()[0], {"at least index.height() = ", index.height()});
    auto const shape = detail::gathered_shape(keys.shape(), table.shape());
    if (out.shape() != shape)
        throw ShapeError("out.shape()", detail::shape_text(out.shape()), detail::shape_text(shape));
    detail::check_apart("out", detail::bytes_of(out), "table", detail::bytes_of(table));

    auto const rows = index.find(exec, keys);
    auto const zeros = Tensor<T>::zeros({1, table.row_size()});
    std::size_t const width = table.row_size();
    auto const from = [width, table = table.data(), row = rows.data(), zeros = zeros.data()](std::size_t i) {
        return row[i] < 0 ? zeros : table + static_cast<std::size_t>(row[i]) * width;
    };
    detail::copy_rows(exec, keys.size(), width * sizeof(T), from,
                      [width, to = out.data()](std::size_t i) { return to + i * width; });
}

/// The row of each key, in the order of `keys`; zeros for a key that has no row.
/// shapes   table [height, ...], keys of any shape -> keys.shape + table.shape[1:]
/// errors   as gather_into
/// cost     as gather_into, and one allocation for the result
template <class T, key_type Key>
Tensor<T> gather(Cpu exec, Tensor<T> const& table, KeyIndex<Key> const& index, std::type_identity_t<Keys<Key>> keys) {
    detail::check_rows("table", table);
    auto out = Tensor<T>::from_shape(detail::gathered_shape(keys.shape(), table.shape()));
    gather_into(exec, table, index, keys, out);
    return out;
}

template <class T, key_type Key>
void gather_into(Tensor<T> const& table, KeyIndex<Key> const& index, std::type_identity_t<Keys<Key>> keys,
                 Tensor<T>& out) {
    gather_into(Cpu{}, table, index, keys, out);
}
template <class T, key_type Key>
Tensor<T> gather(Tensor<T> const& table, KeyIndex<Key> const& index, std::type_identity_t<Keys<Key>> keys) {
    return gather(Cpu{}, table, index, keys);
}

}  // namespace rowan::inline v0
