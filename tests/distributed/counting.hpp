// tests/distributed/counting.hpp: Counting, ranks that count the bytes that they send.
#pragma once

#include "on_ranks.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace test {

/// Counts the bytes that a rank sends in exchanges, but for those within its node.
struct Counting : Ranks {
    Counting(Ranks const& ranks, std::size_t* to) : Ranks(ranks), bytes(to) {}
    std::optional<rowan::Nodes<Counting>> nodes() const {
        auto all = Ranks::nodes();
        if (!all) return {};
        return rowan::Nodes<Counting>{Counting(all->node, nullptr), Counting(all->across, bytes), std::move(all->begins)};
    }
    auto alltoallv(std::size_t unit, std::span<std::byte const> in, std::span<std::size_t const> counts, std::span<std::byte> out, std::span<std::size_t const> out_counts) const {
        for (std::size_t r = 0; r < counts.size() && bytes != nullptr; ++r) *bytes += static_cast<int>(r) == rank() ? 0 : counts[r] * unit;
        return Ranks::alltoallv(unit, in, counts, out, out_counts);
    }
    std::size_t* bytes;
};

}  // namespace test
