// rowan/distributed/detail/shard_exchange_inl.hpp: the functions of shard_exchange.hpp.
#pragma once

#include <rowan/distributed/detail/shard_exchange.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION Slots::Slots(Partition const& partition) : partition_(partition), splits_{0} {
    for (int r = 0; r < partition.ranks; ++r) splits_.push_back(splits_.back() + partition.rows_of(r));
}

ROWAN_FUNCTION std::vector<std::int64_t> Slots::of(Cpu exec, Ids<> const& rows) const {
    std::vector<std::int64_t> slots(rows.size());
    parallel_work(exec, slots.size() * 16, slots.size(), std::size_t{1} << 14, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            std::int64_t const row = rows[i];
            slots[i] = splits_[static_cast<std::size_t>(partition_.owner(row))] + partition_.local(row);
        }
    });
    return slots;
}

ROWAN_FUNCTION RowFetch::RowFetch(Cpu exec, Partition const& partition, Slots const& slots, Ids<> const& ids)
    : partition_(partition) {
    check_ids(exec, "ids", ids, partition.height);
    plan_ = RowPlan<>(exec, slots.of(exec, ids), partition.height);
    places_ =
        Tensor<std::int64_t>::from_shape(Tensor<std::int64_t>::shape_type(ids.shape().begin(), ids.shape().end()));
    for (std::size_t k = 0; k < plan_.rows().size(); ++k) {
        for (auto i = plan_.offsets()[k]; i < plan_.offsets()[k + 1]; ++i)
            places_.data()[plan_.positions()[static_cast<std::size_t>(i)]] = static_cast<std::int64_t>(k);
    }
    send_ = counts_in(slots.splits(), plan_.rows());
}

ROWAN_FUNCTION void RowFetch::ask(ProcessGroup const& group, std::span<std::int64_t const> splits) {
    receive_ = exchange_counts(group, send_);
    asked_.resize(total(receive_));
    group.alltoallv(sizeof(std::int64_t), bytes_of(plan_.rows()), send_, bytes_of(asked_), receive_)->wait();
    for (auto& row : asked_) row -= splits[static_cast<std::size_t>(group.rank())];
}

ROWAN_FUNCTION void RowFetch::fetch(ProcessGroup const& group, std::size_t row_bytes,
                                    std::span<std::byte const> answers, std::span<std::byte> rows) const {
    if (row_bytes != 0) group.alltoallv(row_bytes, answers, receive_, rows, send_)->wait();
}

ROWAN_FUNCTION RowPieces RowFetch::give(ProcessGroup const& group, RowPieces&& own) const {
    auto in = own.like();
    in.resize(asked_.size());
    in.rows = asked_;
    auto key = in.keys.begin();
    for (std::size_t r = 0; r < receive_.size(); ++r) key = std::fill_n(key, receive_[r], static_cast<std::int64_t>(r));
    if (own.row_bytes != 0) {
        group.alltoallv(own.row_bytes, bytes_of(std::as_const(own.bytes)), send_, bytes_of(in.bytes), receive_)->wait();
    }
    return in;
}

}  // namespace rowan::inline v0::detail

#endif
