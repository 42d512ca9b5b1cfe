// rowan/train/auc_inl.hpp: definitions of rowan/train/auc.hpp.
#pragma once

#include <rowan/train/auc.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0 {

ROWAN_CALLED_FUNCTION Auc::Auc(std::size_t thresholds) : thresholds_(static_cast<double>(thresholds)) {
    if (thresholds == 0) throw ValueError("thresholds", 0, "at least 1");
    for (auto& counts : counts_) counts.resize(thresholds + 1);
}

ROWAN_CALLED_FUNCTION void Auc::make_room(std::array<std::size_t, 2> const& sizes) {
    if (thresholds_ != 0) return;
    for (std::size_t const k : {std::size_t{0}, std::size_t{1}}) {
        std::size_t const size = kept_[k].size() + sizes[k];
        if (size > kept_[k].capacity()) kept_[k].reserve(std::max(size, 2 * kept_[k].size()));
    }
}

ROWAN_CALLED_FUNCTION double Auc::value() const {
    detail::RocArea area;
    auto const tie = [&](std::int64_t positives, std::int64_t negatives) {
        area.add(static_cast<double>(positives), static_cast<double>(negatives));
    };
    for (std::size_t i = counts_[0].size(); i-- != 0;) tie(counts_[1][i], counts_[0][i]);
    auto kept = kept_;
    for (auto& sorted : kept) std::sort(sorted.begin(), sorted.end());
    while (!kept[0].empty() || !kept[1].empty()) {
        double greatest = 0;
        for (auto const& rest : kept) greatest = std::max(greatest, rest.empty() ? 0 : rest.back());
        std::array<std::int64_t, 2> equal{};
        for (std::size_t const k : {std::size_t{0}, std::size_t{1}}) {
            for (; !kept[k].empty() && kept[k].back() == greatest; kept[k].pop_back()) ++equal[k];
        }
        tie(equal[1], equal[0]);
    }
    return area.value();
}

ROWAN_CALLED_FUNCTION void Auc::reset() {
    for (auto& counts : counts_) counts.assign(counts.size(), 0);
    for (auto& probabilities : kept_) probabilities.clear();
}

}  // namespace rowan::inline v0

#endif
