// rowan/sparse/split.hpp: split, divides a gradient by sections of the height, for partitioned tables.
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

namespace detail {

/// The inclusive prefix sum of the heights: the ends of the sections.
/// errors   ShapeError as split
inline std::vector<std::int64_t> section_ends(Ids<> const& heights, std::int64_t height) {
    if (heights.shape().size() != 1) throw ShapeError("heights rank", std::to_string(heights.shape().size()), "1");
    std::vector<std::int64_t> ends;
    std::int64_t end = 0;
    for (std::size_t k = 0; k < heights.size(); ++k) {
        if (heights[k] < 0 || heights[k] > height - end) {
            throw ShapeError("heights[" + std::to_string(k) + "]", std::to_string(heights[k]),
                             heights[k] < 0
                                 ? "0 or more"
                                 : "at most " + std::to_string(height - end) + ", what is left of the height");
        }
        ends.push_back(end += heights[k]);
    }
    if (end != height) throw ShapeError("sum of heights", std::to_string(end), std::to_string(height));
    return ends;
}

}  // namespace detail

/// One gradient per section. Part k has the rows in [s, s + heights[k]), where s = heights[0] + … + heights[k - 1], as
/// row - s, in input order.
///
///     split(g, {4, 6})      rows [8 0 4]  ->  height 4, rows [0]   and   height 6, rows [4 0]
///
/// shapes   heights [parts], with sum g.height()
/// errors   ShapeError if heights are not a flat list, a height is negative or their sum is not g.height()
/// cost     O(n * (width + log parts))
template <class T>
std::vector<SelectedRows<T>> split(Cpu exec, SelectedRows<T> const& g, Ids<> heights) {
    SelectedRows<T>::check_value(g.value(), g.rows().size());
    std::vector<std::int64_t> const ends = detail::section_ends(heights, g.height());
    std::vector<std::vector<std::int64_t>> rows(heights.size());
    std::vector<std::vector<std::int64_t>> positions(heights.size());
    for (std::size_t i = 0; i < g.rows().size(); ++i) {
        auto const k = static_cast<std::size_t>(std::ranges::upper_bound(ends, g.rows()[i]) - ends.begin());
        rows[k].push_back(g.rows()[i] - (ends[k] - heights[k]));
        positions[k].push_back(static_cast<std::int64_t>(i));
    }
    std::vector<SelectedRows<T>> parts;
    for (std::size_t k = 0; k < heights.size(); ++k) {
        parts.push_back(detail::SelectedRowsAccess::make(heights[k], rows[k], gather(exec, g.value(), positions[k])));
    }
    return parts;
}

template <class T, class Device>
std::vector<SelectedRows<T, Device>> split(SelectedRows<T, Device> const& g, std::type_identity_t<Ids<>> heights) {
    return split(Device{}, g, heights);
}

ROWAN_TEMPLATE(std::vector<SelectedRows<float>> split(Cpu, SelectedRows<float> const&, Ids<>))
ROWAN_TEMPLATE(std::vector<SelectedRows<double>> split(Cpu, SelectedRows<double> const&, Ids<>))

}  // namespace rowan::inline v0
