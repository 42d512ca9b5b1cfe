// rowan/sparse/retain.hpp: retain, the part of a gradient in given rows.
#pragma once

#include <rowan/core/ids.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

/// The rows of `g` that are in `rows`, in the order of `g`, including duplicates. Rows that are not in `g` are ignored.
/// shapes   rows [m] -> a SelectedRows of the height and row shape of g
/// errors   ShapeError if rows are not a flat list; IndexError if a row is not in [0, height)
/// cost     O((n + m) log m + kept * width)
template <class T>
SelectedRows<T> retain(Cpu exec, SelectedRows<T> const& g, Ids<> rows) {
    SelectedRows<T>::check_value(g.value(), g.rows().size());
    if (rows.shape().size() != 1) throw ShapeError("rows rank", std::to_string(rows.shape().size()), "1");
    detail::check_ids(exec, "rows", rows, g.height());
    std::vector<std::int64_t> wanted(rows.size());
    rows.visit([&](auto list) { std::ranges::copy(list, wanted.begin()); });
    std::ranges::sort(wanted);
    std::vector<std::int64_t> kept;
    std::vector<std::int64_t> positions;
    for (std::size_t i = 0; i < g.rows().size(); ++i) {
        if (!std::ranges::binary_search(wanted, g.rows()[i])) continue;
        kept.push_back(g.rows()[i]);
        positions.push_back(static_cast<std::int64_t>(i));
    }
    return detail::SelectedRowsAccess::make(g.height(), kept, gather(exec, g.value(), positions));
}

template <class T, class Device>
SelectedRows<T, Device> retain(SelectedRows<T, Device> const& g, std::type_identity_t<Ids<Device>> rows) {
    return retain(Device{}, g, rows);
}

ROWAN_TEMPLATE(SelectedRows<float> retain(Cpu, SelectedRows<float> const&, Ids<>))
ROWAN_TEMPLATE(SelectedRows<double> retain(Cpu, SelectedRows<double> const&, Ids<>))

}  // namespace rowan::inline v0
