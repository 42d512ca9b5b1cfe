// rowan/train/group_auc_inl.hpp: definitions of rowan/train/group_auc.hpp.
#pragma once

#include <rowan/train/group_auc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <tuple>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION void GroupAuc::make_room(std::size_t examples) {
    std::size_t const size = kept_.size() + examples;
    if (size > kept_.capacity()) kept_.reserve(std::max(size, 2 * kept_.size()));
}

ROWAN_CALLED_FUNCTION void GroupAuc::reset() { kept_.clear(); }

ROWAN_CALLED_FUNCTION double GroupAuc::value() const {
    auto sorted = kept_;
    std::sort(sorted.begin(), sorted.end(), [](Example const& a, Example const& b) {
        return std::tie(a.group, b.probability) < std::tie(b.group, a.probability);
    });
    double sum = 0, examples = 0;
    for (std::size_t i = 0, first = 0; i < sorted.size(); first = i) {
        detail::RocArea area;
        while (i < sorted.size() && sorted[i].group == sorted[first].group) {
            double const p = sorted[i].probability;
            double positives = 0, negatives = 0;
            for (; i < sorted.size() && sorted[i].group == sorted[first].group && sorted[i].probability == p; ++i)
                ++(sorted[i].positive ? positives : negatives);
            area.add(positives, negatives);
        }
        auto const n = static_cast<double>(i - first);
        if (double const a = area.value(); a == a) sum += n * a, examples += n;
    }
    return sum / examples;
}

}  // namespace rowan::inline v0

#endif
