// rowan/sparse/detail/known_ids.hpp: known_ids, ids with a row of the table in place of those that it does not have.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/sparse/find_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace rowan::inline v0::detail {

/// to[i] = ids[i], or `unknown` if that is not in [0, height).
template <class I>
struct KnownId {
    I const* ids;
    std::int64_t* to;
    std::int64_t height;
    std::int64_t unknown;

    ROWAN_HD void operator()(std::size_t i) const {
        std::int64_t const id = ids[i];
        to[i] = id >= 0 && id < height ? id : unknown;
    }
};

/// The ids, with `unknown` in place of those that are not in [0, height).
/// errors   IndexError if `unknown` is not
/// cost     one pass over the ids, and 8 bytes for each
template <class I, class D>
Tensor<std::int64_t, D> known_ids(D const& exec, std::int64_t height, Tensor<I, D> const& ids, std::int64_t unknown) {
    if (unknown < 0 || unknown >= height) throw IndexError("unknown", unknown, height);
    ElementLoops<D>::check(exec, ids);
    auto known = new_tensor<std::int64_t>(exec, ids.shape());
    ElementLoops<D>::each(exec, ids.size(), 1, KnownId<I>{ids.data(), known.data(), height, unknown});
    return known;
}
template <class T, class I, class D>
Tensor<std::int64_t, D> known_ids(D const& exec, Tensor<T, D> const& table, Tensor<I, D> const& ids,
                                  std::int64_t unknown, std::optional<std::int64_t> = {}) {
    return known_ids(exec, height_of(table), ids, unknown);
}
template <class T, class I>
Tensor<std::int64_t> known_ids(Cpu exec, RowStore<T> const& store, Tensor<I> const& ids, std::int64_t unknown,
                               std::optional<std::int64_t> = {}) {
    return known_ids(exec, store.height(), ids, unknown);
}

/// The same for a table of which only some rows exist, besides the row of `padding`.
/// errors   IndexError if `unknown` is not in [0, height of table), or is neither among the rows nor `padding`
/// cost     as find_rows
template <class T, class I, class D>
Tensor<std::int64_t, D> known_ids(D const& exec, SelectedRows<T, D> const& table, Tensor<I, D> const& ids,
                                  std::int64_t unknown, std::optional<std::int64_t> padding) {
    SelectedRows<T, D>::check_value(table.value(), table.rows().size());
    auto const rows = to_host(exec, SelectedRowsAccess::rows(table));
    auto const host = to_host(exec, ids);
    auto known = Tensor<std::int64_t>::from_shape(host.shape());
    known_rows({rows.data(), rows.size()}, table.merged(), table.height(), host, unknown, padding, known.data());
    return to_device(exec, std::move(known));
}

}  // namespace rowan::inline v0::detail
