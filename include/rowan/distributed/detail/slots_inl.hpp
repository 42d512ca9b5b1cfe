// rowan/distributed/detail/slots_inl.hpp: the functions of slots.hpp.
#pragma once

#include <rowan/distributed/detail/slots.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION std::shared_ptr<NodeRoute const> node_route(ProcessGroup const& group) {
    auto groups = group.nodes();
    if (groups == nullptr) return nullptr;
    std::size_t const nodes = groups->count(), places = groups->places();
    if (nodes == 1 || places == 1 || !std::has_single_bit(places) ||
        nodes * places != static_cast<std::size_t>(group.size()))
        return nullptr;
    auto const rank = static_cast<std::size_t>(group.rank());
    return std::make_shared<NodeRoute>(NodeRoute{std::move(groups), nodes, places, rank / places, rank % places});
}

ROWAN_CALLED_FUNCTION Slots::Slots(Partition const& partition, std::vector<std::int64_t> heights, bool grows,
                                   std::shared_ptr<NodeRoute const> route)
    : partition_(partition), splits_(heights.size() + 1), begins_(heights.size()), heights_(std::move(heights)),
      grows_(grows), route_(std::move(route)) {
    for (std::size_t r = 0; r < heights_.size(); ++r) splits_[position(r) + 1] = heights_[r];
    for (std::size_t p = 1; p < splits_.size(); ++p) splits_[p] += splits_[p - 1];
    for (std::size_t r = 0; r < heights_.size(); ++r) begins_[r] = splits_[position(r)];
}

/// The number of rows of each rank.
ROWAN_IF_CALLED inline std::vector<std::int64_t> heights_of(Partition const& partition) {
    std::vector<std::int64_t> heights;
    for (int r = 0; r < partition.ranks; ++r) heights.push_back(partition.rows_of(r));
    return heights;
}

ROWAN_CALLED_FUNCTION Slots::Slots(Partition const& partition, std::shared_ptr<NodeRoute const> route)
    : Slots(partition, heights_of(partition), false, std::move(route)) {}

ROWAN_CALLED_FUNCTION Slots::Slots(std::span<std::int64_t const> heights, std::shared_ptr<NodeRoute const> route)
    : Slots({*std::ranges::max_element(heights) * static_cast<std::int64_t>(heights.size()), 1,
             static_cast<int>(heights.size())},
            {heights.begin(), heights.end()}, true, std::move(route)) {}

ROWAN_CALLED_FUNCTION Buffer<std::int64_t> Slots::of(Cpu exec, char const* field, Ids<> const& rows) const {
    Buffer<std::int64_t> slots(rows.size());
    std::int64_t const least = grows_ ? -1 : 0;
    // The slot of a row, or -1 if it is not one.
    auto const slot = [&, p = partition_, size = size()](std::int64_t row) {
        if (row < least || row >= p.height) return std::int64_t{-1};
        if (row < 0) return size;
        auto const [rank, local] = p.place(row);
        auto const owner = static_cast<std::size_t>(rank);
        return local < heights_[owner] ? begins_[owner] + local : -1;
    };
    std::atomic<bool> good{true};
    parallel_work(exec, slots.size() * 16, slots.size(), std::size_t{1} << 14, [&](std::size_t begin, std::size_t end) {
        bool bad = false;
        rows.visit([&](auto list) {
            for (std::size_t i = begin; i < end; ++i) bad |= (slots[i] = slot(list[i])) < 0;
        });
        if (bad) good = false;
    });
    if (good) return slots;
    auto const i = static_cast<std::size_t>(std::ranges::find(slots, -1) - slots.begin());
    if (!grows_) throw IndexError(field, i, rows[i], height());
    throw IndexError(field, i, rows[i], "is neither -1 nor a row of the table");
}

}  // namespace rowan::inline v0::detail

#endif
