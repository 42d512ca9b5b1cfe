// rowan/sequence/tensor_array_inl.hpp: what TensorArrays do with numbers of slots and of rows.
#pragma once

#include <rowan/sequence/tensor_array.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/checked.hpp>
#include <rowan/core/error.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> first_numbers(std::size_t n) {
    std::vector<std::int64_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    return numbers;
}

ROWAN_CALLED_FUNCTION std::int64_t greatest_without_repeats(Ids<> const& indices) {
    std::vector<std::pair<std::int64_t, std::size_t>> sorted;
    for (std::size_t i = 0; i < indices.size(); ++i) sorted.emplace_back(indices[i], i);
    std::sort(sorted.begin(), sorted.end());
    std::size_t twice = indices.size();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i].first == sorted[i - 1].first) twice = std::min(twice, sorted[i].second);
    }
    if (twice != indices.size()) throw IndexError("indices", twice, indices[twice], "is a repeated value");
    return sorted.empty() ? -1 : sorted.back().first;
}

ROWAN_CALLED_FUNCTION std::shared_ptr<StepLayout const> layout_of_rows(std::vector<std::int64_t> rows) {
    auto layout = std::make_shared<StepLayout>();
    layout->rows = std::move(rows);
    return layout;
}

ROWAN_CALLED_FUNCTION std::shared_ptr<StepLayout const> layout_of_single_rows(std::size_t n) {
    checked_size("slots", std::array{n + 1}, sizeof(std::int64_t));
    return layout_of_rows(first_numbers(n + 1));
}

ROWAN_CALLED_FUNCTION void not_as_the_map(std::string const& field, std::size_t found, std::size_t of_map) {
    throw ShapeError(field, found, {of_map, ", the map's"});
}

ROWAN_CALLED_FUNCTION void list_parts(Ids<> const& indices, std::size_t n, std::vector<std::int64_t>& begins,
                                      std::vector<std::int64_t>& positions) {
    checked_size("size", std::array{n + 1}, sizeof(std::int64_t));
    std::vector<std::int64_t> ends(n + 1);  // the start of the parts of each sum; the loop below advances it to the end
    for (std::size_t k = 0; k < indices.size(); ++k) ++ends[static_cast<std::size_t>(indices[k]) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    begins = ends;
    positions.resize(indices.size());
    for (std::size_t k = 0; k < indices.size(); ++k) {
        auto& next = ends[static_cast<std::size_t>(indices[k])];
        positions[static_cast<std::size_t>(next++)] = static_cast<std::int64_t>(k);
    }
}

}  // namespace rowan::inline v0::detail

#endif
