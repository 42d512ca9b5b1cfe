// rowan/detail/tree_sum_inl.hpp: the functions of tree_sum.hpp.
#pragma once

#include <rowan/detail/tree_sum.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

// Nodes that wait meet at lower and lower levels, so there are at most as many as levels, and one.
ROWAN_CALLED_FUNCTION TreeSum::TreeSum(ElementSums const& type, std::size_t n, std::int64_t last_key)
    : type_(type), n_(n), bytes_(n * type.sum_bytes),
      sums_(static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(last_key))) * bytes_) {}

ROWAN_CALLED_FUNCTION void TreeSum::add(std::int64_t key, std::byte const* sum) {
    if (depth_ != 0) {
        int const level = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(key ^ key_[depth_ - 1])));
        fold(level);
        level_[depth_] = level;
    }
    key_[depth_] = key;
    at_[depth_++] = sum;
}

ROWAN_CALLED_FUNCTION void TreeSum::end() {
    fold(65);
    if (bytes_ != 0 && at_[0] != out_) std::memcpy(out_, at_[0], bytes_);
}

ROWAN_CALLED_FUNCTION void TreeSum::fold(int below) {
    for (; depth_ >= 2 && level_[depth_ - 1] < below; --depth_) {
        std::byte* const to = slot(depth_ - 2);
        if (bytes_ != 0 && at_[depth_ - 2] != to) std::memcpy(to, at_[depth_ - 2], bytes_);
        at_[depth_ - 2] = to;
        type_.add(n_, at_[depth_ - 1], to);
    }
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> whole_nodes(std::int64_t begin, std::int64_t end, std::int64_t total) {
    // Nothing comes after the last part.
    if (end == total) end = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(total)));
    std::vector<std::int64_t> ends;
    while (begin < end) {
        std::int64_t size = begin == 0 ? std::int64_t{1} << 62 : begin & -begin;
        while (size > end - begin) size /= 2;
        ends.push_back(begin += size);
    }
    return ends;
}

ROWAN_CALLED_FUNCTION std::vector<std::int64_t> firsts_of_nodes(std::int64_t begin, std::int64_t end,
                                                                std::int64_t total) {
    std::vector<std::int64_t> firsts;
    for (std::int64_t const node_end : whole_nodes(begin, end, total)) {
        if (begin >= end) break;
        firsts.push_back(begin);
        begin = node_end;
    }
    return firsts;
}

ROWAN_CALLED_FUNCTION std::size_t node_of(std::span<std::int64_t const> ends, std::int64_t part) {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends, part) - ends.begin());
}

}  // namespace rowan::inline v0::detail

#endif
