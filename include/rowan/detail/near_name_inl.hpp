// rowan/detail/near_name_inl.hpp: definitions of rowan/detail/near_name.hpp.
#pragma once

#include <rowan/detail/near_name.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <numeric>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ROWAN_RARE void NearName::see(std::string_view name) {
    std::size_t const shorter = std::min(name.size(), wanted_.size()), longer = std::max(name.size(), wanted_.size());
    if (longer - shorter > least_ || longer > 256) return;
    // row[k] counts the changes from wanted[0, i) to name[0, k): letters replaced, inserted, left out, or swapped.
    // `last` and `before` are the rows of i - 1 and i - 2.
    std::vector<std::size_t> row(name.size() + 1), last(row), before(row);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= wanted_.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t k = 1; k <= name.size(); ++k) {
            std::size_t const replaced = last[k - 1] + (wanted_[i - 1] == name[k - 1] ? 0 : 1);
            row[k] = std::min({replaced, last[k] + 1, row[k - 1] + 1});
            if (i > 1 && k > 1 && wanted_[i - 1] == name[k - 2] && wanted_[i - 2] == name[k - 1])
                row[k] = std::min(row[k], before[k - 2] + 1);
        }
    }
    if (row.back() > least_ || row.back() >= shorter) return;
    if (row.back() == least_ && !nearest_.empty() && nearest_ < name) return;  // in whatever order they are seen
    least_ = row.back();
    nearest_ = name;
}

ROWAN_FUNCTION ROWAN_RARE std::string NearName::text() const {
    return nearest_.empty() ? std::string() : std::string(" (did you mean ").append(nearest_).append("?)");
}

}  // namespace rowan::inline v0::detail

#endif
