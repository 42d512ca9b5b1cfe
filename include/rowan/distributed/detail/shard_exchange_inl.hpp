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

ROWAN_FUNCTION std::vector<std::int64_t> Slots::of(Cpu exec, char const* field, Ids<> const& rows) const {
    std::vector<std::int64_t> slots(rows.size());
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
        for (std::size_t i = begin; i < end; ++i) bad |= (slots[i] = slot(rows[i])) < 0;
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
                      for (std::size_t k = begin; k < end; ++k) {
                          std::size_t const at = place(k);
                          std::int64_t const to = at < others() ? ~static_cast<std::int64_t>(at) : own_[at - others()];
                          for (auto i = plan_.offsets()[k]; i < plan_.offsets()[k + 1]; ++i)
                              places[plan_.positions()[static_cast<std::size_t>(i)]] = to;
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
        for (auto const& t : tables) t.append_counts(counts, r);
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

ROWAN_FUNCTION MetRows::MetRows(Cpu exec, RowFetch const& fetch, int rank, std::int64_t height,
                                std::span<std::uint8_t const> own, std::span<std::uint8_t const> asked)
    : own_rank_(static_cast<std::size_t>(rank)) {
    bool const some = !own.empty() || !asked.empty();
    std::vector<std::int64_t> all;
    all.reserve(fetch.asked().size() + fetch.own().size());
    std::size_t end = 0, from = 0;
    auto const add = [&](std::span<std::int64_t const> rows, std::span<std::uint8_t const> which) {
        if (!some) all.insert(all.end(), rows.begin(), rows.end());
        for (std::size_t i = 0; some && i < rows.size(); ++i) {
            if (which[i] == 0) continue;
            all.push_back(rows[i]);
            numbers_.push_back(end + i);
        }
        ends_.push_back(end += rows.size());
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
    plan_ = RowPlan<>(exec, all, height);
    std::size_t const begin = ends_[own_rank_] - fetch.own().size();
    places_.resize(fetch.own().size());
    for (std::size_t k = 0; k < plan_.rows().size(); ++k) {
        for (auto i = plan_.offsets()[k]; i < plan_.offsets()[k + 1]; ++i) {
            std::size_t const at = number(plan_.positions()[static_cast<std::size_t>(i)]) - begin;
            if (at < places_.size()) places_[at] = k;  // of the others, it is a great number
        }
    }
}

ROWAN_FUNCTION void MetRows::sum_pieces(Cpu exec, ElementSums const& type, std::size_t bytes, std::byte const* came,
                                        std::function<std::byte const*(std::size_t)> const& own,
                                        std::span<std::int64_t const> keys, std::byte* out) const {
    if (bytes == 0) return;
    std::size_t const end = ends_[own_rank_], begin = end - places_.size(), width = bytes / type.sum_bytes;
    auto const is_own = [=](std::size_t piece) { return piece >= begin && piece < end; };
    auto const address = [=, &own](std::size_t piece) {
        if (is_own(piece)) return own(piece - begin);
        return came + (piece < begin ? piece : piece - (end - begin)) * bytes;
    };
    parallel_work(
        exec, plan_.size() * width, rows().size(), rows_per_range(bytes), [&](std::size_t first, std::size_t last) {
            TreeSum sum(type, width, *std::ranges::max_element(keys));
            Storage<std::byte> aside(bytes);
            for (std::size_t k = first; k < last; ++k) {
                auto const of_row =
                    plan_.positions().subspan(static_cast<std::size_t>(plan_.offsets()[k]),
                                              static_cast<std::size_t>(plan_.offsets()[k + 1] - plan_.offsets()[k]));
                std::byte* const to = out + k * bytes;
                if (of_row.size() == 1) {
                    auto const* const only = address(number(of_row[0]));
                    if (only != to) std::memcpy(to, only, bytes);
                    continue;
                }
                // This rank's piece may be at `to`, where the sum of those of lower ranks goes.
                auto const own_piece =
                    std::ranges::find_if(of_row, is_own, [&](std::int64_t position) { return number(position); });
                bool const overwritten =
                    own_piece != of_row.begin() && own_piece != of_row.end() && address(number(*own_piece)) == to;
                if (overwritten) std::memcpy(aside.data(), to, bytes);
                sum.begin(to);
                for (auto const position : of_row) {
                    auto const* const at = address(number(position));
                    auto const rank = std::ranges::upper_bound(ends_, number(position)) - ends_.begin();
                    sum.add(keys[static_cast<std::size_t>(rank)], at == to && overwritten ? aside.data() : at);
                }
                sum.end();
            }
        });
}

}  // namespace rowan::inline v0::detail

#endif
