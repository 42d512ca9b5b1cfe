// rowan/sparse/retain.hpp: retain, the part of a gradient in given rows.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The positions of those of `rows` that are among `wanted`, ascending.
ROWAN_IF_CALLED Tensor<std::int64_t> positions_among(std::span<std::int64_t const> rows, Ids<> const& wanted);

/// Finds the rows of a gradient that are wanted.
template <class D>
struct RowFilter {
    static_assert(has_backend<D>, "rowan: retain on a Thrust device needs #include <rowan/thrust/sparse/retain.hpp>");
};

template <>
struct RowFilter<Cpu> {
    /// The positions of the rows of `g` that are in `rows`, ascending.
    /// errors   IndexError if a row is not in [0, height)
    template <class T>
    static Tensor<std::int64_t> kept(Cpu exec, SelectedRows<T> const& g, Ids<> const& rows) {
        check_ids(exec, "rows", rows, g.height());
        return positions_among(g.rows(), rows);
    }
};

}  // namespace detail

/// The rows of `g` that are in `rows`, in the order of `g`, including duplicates. Rows that are not in `g` are ignored.
/// A Thrust device synchronizes once to get the number of rows kept; there the result is merged() if `g` is.
/// shapes   rows [m] -> a SelectedRows of the height and row shape of g
/// errors   ShapeError if rows are not a flat list; IndexError if a row is not in [0, height)
/// cost     O((n + m) log m + kept * width)
template <class T, device D>
SelectedRows<T, D> retain(D const& exec, SelectedRows<T, D> const& g, std::type_identity_t<Ids<D>> rows) {
    SelectedRows<T, D>::check_value(g.value(), g.rows().size());
    if (rows.shape().size() != 1) throw ShapeError("rows rank", rows.shape().size(), "1");
    auto const kept = detail::RowFilter<D>::kept(exec, g, rows);
    auto kept_rows = detail::rows_at(exec, detail::SelectedRowsAccess::rows(g), kept);
    return detail::SelectedRowsAccess::adopt(g.height(), std::move(kept_rows), detail::rows_at(exec, g.value(), kept),
                                             g.merged());
}

template <class T, class Device>
SelectedRows<T, Device> retain(SelectedRows<T, Device> const& g, std::type_identity_t<Ids<Device>> rows) {
    return retain(g.device(), g, rows);
}

ROWAN_TEMPLATE(SelectedRows<float> retain(Cpu const&, SelectedRows<float> const&, Ids<>))
ROWAN_TEMPLATE(SelectedRows<double> retain(Cpu const&, SelectedRows<double> const&, Ids<>))

}  // namespace rowan::inline v0

#include <rowan/sparse/retain_inl.hpp>
