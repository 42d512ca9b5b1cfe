// rowan/distributed/detail/shard_exchange_inl.hpp: the functions of shard_exchange.hpp.
#pragma once

#include <rowan/distributed/detail/shard_exchange.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/storage.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Slots::Slots(Partition const& partition) : partition_(partition), splits_{0} {
    for (int r = 0; r < partition.ranks; ++r) splits_.push_back(splits_.back() + partition.rows_of(r));
}

ROWAN_FUNCTION Slots::Slots(std::span<std::int64_t const> heights) : splits_{0}, grows_(true) {
    for (std::int64_t const height : heights) splits_.push_back(splits_.back() + height);
    auto const ranks = static_cast<int>(heights.size());
    partition_ = {*std::ranges::max_element(heights) * ranks, 1, ranks};
}

ROWAN_FUNCTION Buffer<std::int64_t> Slots::of(Cpu exec, char const* field, Ids<> const& rows) const {
    Buffer<std::int64_t> slots(rows.size());
    std::int64_t const least = grows_ ? -1 : 0;
    // The slot of a row, or -1 if it is not one.
    auto const slot = [&, p = partition_, size = size()](std::int64_t row) {
        if (row < least || row >= p.height) return std::int64_t{-1};
        if (row < 0) return size;
        auto const [rank, local] = p.place(row);
        auto const owner = static_cast<std::size_t>(rank);
        std::int64_t const s = splits_[owner] + local;
        return s < splits_[owner + 1] ? s : -1;
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

ROWAN_FUNCTION RowFetch::RowFetch(Cpu exec, Slots const& slots, int rank, char const* field, Ids<> const& ids)
    : plan_(exec, slots.of(exec, field, ids), slots.size() + slots.grows()) {
    auto rows = plan_.rows();
    if (!rows.empty() && rows.back() == slots.size()) rows = rows.first(rows.size() - 1);
    send_ = counts_in(slots.splits(), rows);
    auto const me = static_cast<std::size_t>(rank);
    first_slot_ = slots.splits()[me];
    own_begin_ = total(std::span(send_).first(me));
    rows = rows.subspan(own_begin_, std::exchange(send_[me], 0));
    own_.assign(rows.begin(), rows.end());
    for (auto& row : own_) row -= first_slot_;
    places_ =
        Tensor<std::int64_t>::from_shape(Tensor<std::int64_t>::shape_type(ids.shape().begin(), ids.shape().end()));
    auto* const places = places_.data();
    parallel_work(exec, plan_.size() * 4, plan_.rows().size(), std::size_t{1} << 13,
                  [=, this](std::size_t begin, std::size_t end) {
                      auto const offsets = plan_.offsets(), positions = plan_.positions();
                      for (std::size_t k = begin; k < end; ++k) {
                          std::size_t const at = place(k);
                          std::int64_t const to = at < others() ? ~static_cast<std::int64_t>(at) : own_[at - others()];
                          for (auto i = offsets[k]; i < offsets[k + 1]; ++i)
                              places[positions[static_cast<std::size_t>(i)]] = to;
                      }
                  });
}

ROWAN_FUNCTION std::vector<ListExchange> RowFetch::ask_for(std::span<RowFetch> tables,
                                                           std::span<std::size_t const> counts, std::size_t stride,
                                                           std::vector<std::vector<std::int64_t>>& wanted) {
    wanted.resize(tables.size());
    std::vector<ListExchange> lists;
    for (std::size_t k = 0; k < tables.size(); ++k) {
        auto& t = tables[k];
        auto const rows = t.plan_.rows();
        wanted[k].assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(t.own_begin_));
        auto const after = rows.subspan(t.own_begin_ + t.own_.size(), t.received() - t.own_begin_);
        wanted[k].insert(wanted[k].end(), after.begin(), after.end());
        for (std::size_t r = 0; r < t.send_.size(); ++r) t.receive_.push_back(counts[r * stride + k]);
        t.asked_.resize(total(t.receive_));
        lists.push_back(
            {sizeof(std::int64_t), bytes_of(std::as_const(wanted[k])), t.send_, bytes_of(t.asked_), t.receive_});
    }
    return lists;
}

ROWAN_FUNCTION void RowFetch::has_been_asked() {
    for (auto& row : asked_) row -= first_slot_;
}

ROWAN_FUNCTION void RowFetch::ask(ProcessGroup const& group, std::span<RowFetch> tables) {
    auto const ranks = static_cast<std::size_t>(group.size());
    std::vector<std::size_t> counts, asked(ranks * tables.size());
    for (std::size_t r = 0; r < ranks; ++r) {
        for (auto const& t : tables) counts.push_back(t.wanted_counts()[r]);
    }
    group.alltoall(bytes_of(std::as_const(counts)), bytes_of(asked));
    std::vector<std::vector<std::int64_t>> wanted;
    exchange_lists(group, ask_for(tables, asked, tables.size(), wanted));
    for (auto& t : tables) t.has_been_asked();
}

// A message: the number of rows of each table, these rows, and what is left of the room.
ROWAN_FUNCTION void RowFetch::ask(ProcessGroup const& group, std::span<RowFetch> tables,
                                  std::span<std::size_t const> most) {
    std::size_t const ranks = most.size(), me = static_cast<std::size_t>(group.rank());
    std::vector<std::size_t> words(ranks, tables.size() + most[me]), come_words, sent(tables.size());
    words[me] = 0;
    for (std::size_t r = 0; r < ranks; ++r) come_words.push_back(r == me ? 0 : tables.size() + most[r]);
    std::vector<std::int64_t> messages, come(total(come_words));
    for (std::size_t r = 0, end = 0; r < ranks; ++r) {
        for (std::size_t k = 0; k < tables.size() && r != me; ++k)
            messages.push_back(static_cast<std::int64_t>(tables[k].send_[r]));
        for (std::size_t k = 0; k < tables.size(); ++k) {
            auto const& t = tables[k];
            auto const rows = t.plan_.rows().subspan(sent[k], t.send_[r]);  // none for this rank
            messages.insert(messages.end(), rows.begin(), rows.end());
            sent[k] += r == me ? t.own_.size() : rows.size();
        }
        messages.resize(end += words[r]);
    }
    exchange_lists(group,
                   {{sizeof(std::int64_t), bytes_of(std::as_const(messages)), words, bytes_of(come), come_words}});
    for (std::size_t r = 0, at = 0; r < ranks; at += come_words[r++]) {
        for (std::size_t k = 0, row = at + tables.size(); k < tables.size(); ++k) {
            auto const n = r == me ? 0 : static_cast<std::size_t>(come[at + k]);
            tables[k].receive_.push_back(n);
            if (n == 0) continue;
            auto const rows = std::span<std::int64_t const>(come).subspan(row, n);
            tables[k].asked_.insert(tables[k].asked_.end(), rows.begin(), rows.end());
            row += n;
        }
    }
    for (auto& t : tables) t.has_been_asked();
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

ROWAN_FUNCTION MetRows::MetRows(RowFetch const& fetch, int rank, std::span<std::uint8_t const> own,
                                std::span<std::uint8_t const> asked)
    : own_rank_(static_cast<std::size_t>(rank)) {
    bool const some = !own.empty() || !asked.empty();
    Buffer<NumberedPiece> all;
    all.reserve(fetch.asked().size() + fetch.own().size());
    std::vector<std::size_t> cuts{0};  // lists that ascend
    std::size_t end = 0, from = 0;
    auto const add = [&](std::span<std::int64_t const> rows, std::span<std::uint8_t const> which) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!some || which[i] != 0) all.push_back({rows[i], end + i});
        }
        ends_.push_back(end += rows.size());
        cuts.push_back(all.size());
    };
    for (std::size_t r = 0; r < fetch.asked_counts().size(); ++r) {
        if (r == own_rank_) {
            add(fetch.own(), own);
        } else {
            std::size_t const n = fetch.asked_counts()[r];
            add(std::span(fetch.asked()).subspan(from, n), some ? asked.subspan(from, n) : asked);
            from += n;
        }
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
    places_.resize(fetch.own().size());
    shared_.assign(places_.size(), 0);
    for (auto* const list : {&offsets_, &pieces_, &of_others_}) list->reserve(all.size() + 1);
    rows_.reserve(all.size());
    for (std::size_t begin = 0, next = 0; begin < all.size(); begin = next) {
        std::optional<std::size_t> mine;  // this rank has one piece at most
        for (next = begin; next < all.size() && all[next].row == all[begin].row; ++next) {
            std::size_t const piece = all[next].number;
            pieces_.push_back(piece);
            if (is_own(piece)) mine = piece - own_begin();
        }
        bool const others = !mine || next - begin > 1;
        if (mine) {
            places_[*mine] = rows_.size();
            shared_[*mine] = others ? 1 : 0;
        }
        if (others) of_others_.push_back(rows_.size());
        offsets_.push_back(begin);
        rows_.push_back(all[begin].row);
    }
    offsets_.push_back(all.size());
}

ROWAN_FUNCTION std::byte const* MetRows::sum_of(std::size_t k, Pieces const& pieces, TreeSum& tree,
                                                std::byte* to) const {
    auto const address = [&](std::size_t piece) {
        if (is_own(piece)) return pieces.own(piece - own_begin());
        return pieces.came + (piece < own_begin() ? piece : piece - places_.size()) * pieces.bytes;
    };
    auto const of_row = pieces_of(k);
    if (of_row.size() == 1) return address(of_row[0]);
    tree.begin(to);
    for (std::size_t const piece : of_row) {
        auto const rank = std::ranges::upper_bound(ends_, piece) - ends_.begin();
        tree.add(pieces.keys[static_cast<std::size_t>(rank)], address(piece));
    }
    tree.end();
    return to;
}

ROWAN_FUNCTION void MetRows::sum(Cpu exec, Pieces const& pieces, std::byte* out) const {
    std::size_t const bytes = pieces.bytes;
    if (bytes == 0) return;
    parallel_work(exec, pieces_.size() * bytes / pieces.type.sum_bytes, rows().size(), rows_per_range(bytes),
                  [&](std::size_t first, std::size_t last) {
                      auto tree = pieces.tree();
                      for (std::size_t k = first; k < last; ++k) {
                          auto const* const sum = sum_of(k, pieces, tree, out + k * bytes);
                          if (sum != out + k * bytes) std::memcpy(out + k * bytes, sum, bytes);
                      }
                  });
}

}  // namespace rowan::inline v0::detail

#endif
