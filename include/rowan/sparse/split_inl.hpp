// rowan/sparse/split_inl.hpp: definitions of rowan/sparse/split.hpp.
#pragma once

#include <rowan/sparse/split.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <string>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> section_ends(Ids<> const& heights, std::int64_t height) {
    if (heights.shape().size() != 1) throw ShapeError("heights rank", heights.shape().size(), "1");
    std::vector<std::int64_t> ends;
    std::int64_t end = 0;
    for (std::size_t k = 0; k < heights.size(); ++k) {
        if (heights[k] < 0 || heights[k] > height - end) {
            throw ShapeError({"heights[", k, "]"}, heights[k],
                             heights[k] < 0
                                 ? "0 or more"
                                 : "at most " + std::to_string(height - end) + ", what is left of the height");
        }
        ends.push_back(end += heights[k]);
    }
    if (end != height) throw ShapeError("sum of heights", end, height);
    return ends;
}

ROWAN_CALLED_FUNCTION std::vector<Tensor<std::int64_t>> section_positions(std::span<std::int64_t const> rows,
                                                                          std::vector<std::int64_t> const& ends) {
    std::vector<std::vector<std::int64_t>> lists(ends.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto const k = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), rows[i]) - ends.begin());
        lists[k].push_back(static_cast<std::int64_t>(i));
    }
    std::vector<Tensor<std::int64_t>> result;
    for (auto const& list : lists) result.push_back(RowNumbers<Cpu>::copy(list));
    return result;
}

}  // namespace rowan::inline v0::detail

#endif
