// rowan/distributed/detail/slots_inl.hpp: the functions of slots.hpp.
#pragma once

#include <rowan/distributed/detail/slots.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/storage.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>

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

/// A piece of a rank for a row.
struct NumberedPiece {
    std::int64_t row;
    std::size_t number;
};

/// Merges lists that ascend, of equal rows the first list first. The loop has no branch that depends on rows.
inline void merge_pieces(std::span<NumberedPiece const> a, std::span<NumberedPiece const> b, NumberedPiece* to) {
    auto const *x = a.data(), *y = b.data();
    auto const *const x_end = x + a.size(), *const y_end = y + b.size();
    while (x != x_end && y != y_end) {
        bool const second = y->row < x->row;
        *to++ = *(second ? y : x);
        y += second ? 1 : 0;
        x += second ? 0 : 1;
    }
    std::copy(y, y_end, std::copy(x, x_end, to));
}

ROWAN_CALLED_FUNCTION MetRows::MetRows(std::span<RowsOfRank const> others, RowsOfRank const& own,
                                       std::span<std::uint8_t const> which, std::span<std::uint8_t const> own_which)
    : own_rank_(own.rank) {
    bool const some = !which.empty() || !own_which.empty();
    std::vector<std::size_t> order;  // lists by their ranks; others.size() is this rank's own
    auto const rank_of = [&](std::size_t list) { return list < others.size() ? others[list].rank : own.rank; };
    std::size_t end = 0;
    for (std::size_t list = 0; list <= others.size(); ++list) {
        auto at = order.end();
        while (at != order.begin() && rank_of(at[-1]) > rank_of(list)) --at;
        order.insert(at, list);
        if (list == others.size()) break;
        ends_.push_back(end += others[list].rows.size());
        ranks_.push_back(others[list].rank);
    }
    Buffer<NumberedPiece> all;
    all.reserve(end + own.rows.size());
    std::vector<std::size_t> cuts{0};  // lists that ascend
    for (std::size_t const list : order) {
        bool const mine = list == others.size();
        auto const rows = mine ? own.rows : others[list].rows;
        std::size_t const first = list == 0 ? 0 : ends_[list - 1];
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!some || (mine ? own_which[i] : which[first + i]) != 0) all.push_back({rows[i], first + i});
        }
        cuts.push_back(all.size());
    }
    for (Buffer<NumberedPiece> merged(cuts.size() > 2 ? all.size() : 0); cuts.size() > 2; std::swap(all, merged)) {
        std::vector<std::size_t> ends{0};
        for (std::size_t i = 0; i + 1 < cuts.size(); i += 2) {
            std::size_t const last = std::min(i + 2, cuts.size() - 1);
            auto const list = std::span<NumberedPiece const>(all);
            merge_pieces(list.subspan(cuts[i], cuts[i + 1] - cuts[i]),
                         list.subspan(cuts[i + 1], cuts[last] - cuts[i + 1]), merged.data() + cuts[i]);
            ends.push_back(cuts[last]);
        }
        cuts = std::move(ends);
    }
    places_.resize(own.rows.size());
    shared_.assign(places_.size(), 0);
    for (auto* const list : {&offsets_, &pieces_, &of_others_}) list->reserve(all.size() + 1);
    rows_.reserve(all.size());
    for (std::size_t begin = 0, next = 0; begin < all.size(); begin = next) {
        std::optional<std::size_t> mine;  // this rank has one piece at most
        for (next = begin; next < all.size() && all[next].row == all[begin].row; ++next) {
            std::size_t const piece = all[next].number;
            pieces_.push_back(piece);
            if (piece >= end) mine = piece - end;
        }
        bool const has_others = !mine || next - begin > 1;
        if (mine) {
            places_[*mine] = rows_.size();
            shared_[*mine] = has_others ? 1 : 0;
        }
        if (has_others) of_others_.push_back(rows_.size());
        offsets_.push_back(begin);
        rows_.push_back(all[begin].row);
    }
    offsets_.push_back(all.size());
}

ROWAN_CALLED_FUNCTION std::span<std::size_t const> MetRows::pieces_of(std::size_t k) const {
    return std::span(pieces_).subspan(offsets_[k], offsets_[k + 1] - offsets_[k]);
}

ROWAN_CALLED_FUNCTION std::byte const* MetRows::sum_of(std::size_t k, Pieces const& pieces, TreeSum& tree,
                                                       std::byte* to) const {
    auto const of_row = pieces_of(k);
    auto const address = [&](std::size_t piece) {
        return piece < own_begin() ? pieces.came + piece * pieces.bytes : pieces.own(piece - own_begin());
    };
    if (of_row.size() == 1) return address(of_row[0]);
    tree.begin(to);
    for (std::size_t const piece : of_row) {
        auto const list = static_cast<std::size_t>(std::ranges::upper_bound(ends_, piece) - ends_.begin());
        tree.add(pieces.keys[list < ranks_.size() ? ranks_[list] : own_rank_], address(piece));
    }
    tree.end();
    return to;
}

ROWAN_CALLED_FUNCTION TreeSum MetRows::Pieces::tree() const {
    return {type, bytes / type.sum_bytes, *std::ranges::max_element(keys)};
}

ROWAN_CALLED_FUNCTION void MetRows::sum(Cpu exec, Pieces const& pieces, std::byte* out) const {
    std::size_t const bytes = pieces.bytes;
    if (bytes == 0) return;
    auto const begun = pieces.tree();
    parallel_work(exec, pieces_.size() * bytes / pieces.type.sum_bytes, rows().size(), rows_per_range(bytes),
                  [&](std::size_t first, std::size_t last) {
                      auto tree = begun;
                      for (std::size_t k = first; k < last; ++k) {
                          auto const* const sum = sum_of(k, pieces, tree, out + k * bytes);
                          if (sum != out + k * bytes) std::memcpy(out + k * bytes, sum, bytes);
                      }
                  });
}

}  // namespace rowan::inline v0::detail

#endif
