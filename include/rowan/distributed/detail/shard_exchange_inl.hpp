// rowan/distributed/detail/shard_exchange_inl.hpp: the functions of shard_exchange.hpp.
#pragma once

#include <rowan/distributed/detail/shard_exchange.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <atomic>
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
    auto const slot = [&](std::int64_t row) {
        if (row < least || row >= height()) return std::int64_t{-1};
        if (row < 0) return size();
        auto const owner = static_cast<std::size_t>(partition_.owner(row));
        std::int64_t const s = splits_[owner] + partition_.local(row);
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

ROWAN_FUNCTION RowFetch::RowFetch(Cpu exec, Slots const& slots, char const* field, Ids<> const& ids)
    : plan_(exec, slots.of(exec, field, ids), slots.size() + slots.grows()) {
    places_ =
        Tensor<std::int64_t>::from_shape(Tensor<std::int64_t>::shape_type(ids.shape().begin(), ids.shape().end()));
    for (std::size_t k = 0; k < plan_.rows().size(); ++k) {
        for (auto i = plan_.offsets()[k]; i < plan_.offsets()[k + 1]; ++i)
            places_.data()[plan_.positions()[static_cast<std::size_t>(i)]] = static_cast<std::int64_t>(k);
    }
    auto rows = plan_.rows();
    if (!rows.empty() && rows.back() == slots.size()) rows = rows.first(rows.size() - 1);
    send_ = counts_in(slots.splits(), rows);
}

ROWAN_FUNCTION void RowFetch::ask(ProcessGroup const& group, std::span<std::int64_t const> splits) {
    receive_ = exchange_counts(group, send_);
    asked_.resize(total(receive_));
    group
        .alltoallv(sizeof(std::int64_t), bytes_of(plan_.rows().first(total(send_))), send_, bytes_of(asked_), receive_)
        ->wait();
    for (auto& row : asked_) row -= splits[static_cast<std::size_t>(group.rank())];
}

ROWAN_FUNCTION void RowFetch::fetch(ProcessGroup const& group, std::size_t row_bytes,
                                    std::span<std::byte const> answers, std::span<std::byte> rows) const {
    if (row_bytes != 0)
        group.alltoallv(row_bytes, answers, receive_, rows.first(total(send_) * row_bytes), send_)->wait();
}

ROWAN_FUNCTION RowPieces RowFetch::give(ProcessGroup const& group, RowPieces&& own) const {
    auto in = own.like();
    in.resize(asked_.size());
    in.rows = asked_;
    auto key = in.keys.begin();
    for (std::size_t r = 0; r < receive_.size(); ++r) key = std::fill_n(key, receive_[r], static_cast<std::int64_t>(r));
    if (own.row_bytes != 0) {
        auto const known = bytes_of(std::as_const(own.bytes)).first(total(send_) * own.row_bytes);
        group.alltoallv(own.row_bytes, known, send_, bytes_of(in.bytes), receive_)->wait();
    }
    return in;
}

}  // namespace rowan::inline v0::detail

#endif
