// rowan/sequence/pick_sequences_inl.hpp: definitions of rowan/sequence/pick_sequences.hpp.
#pragma once

#include <rowan/sequence/pick_sequences.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <numeric>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION SortedPicks sort_picks(Ids<> const& list, std::vector<std::int64_t> const& rows) {
    std::size_t const n = list.size();
    SortedPicks picks;
    picks.times.resize(rows.size() - 1);
    std::vector<std::int64_t> starts(n + 1);  // of the unsorted picks
    for (std::size_t j = 0; j < n; ++j) {
        auto const s = static_cast<std::size_t>(list[j]);
        picks.sorted = picks.sorted && (j == 0 || list[j - 1] <= list[j]);
        ++picks.times[s];
        starts[j + 1] = checked_add("rows of the result", starts[j], rows[s + 1] - rows[s]);
    }
    std::vector<std::int64_t> next(picks.times.size());
    std::exclusive_scan(picks.times.begin(), picks.times.end(), next.begin(), std::int64_t{0});
    std::vector<std::size_t> order(n);
    for (std::size_t j = 0; j < n; ++j) order[static_cast<std::size_t>(next[static_cast<std::size_t>(list[j])]++)] = j;
    picks.starts.push_back(0);
    for (std::size_t const j : order) {
        picks.from.push_back(starts[j]);
        picks.starts.push_back(picks.starts.back() + starts[j + 1] - starts[j]);
    }
    return picks;
}

}  // namespace rowan::inline v0::detail

#endif
