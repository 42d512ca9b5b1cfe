// rowan/distributed/detail/list_exchange_inl.hpp: the functions of list_exchange.hpp.
#pragma once

#include <rowan/distributed/detail/list_exchange.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstring>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void ListTransfer::begin(ProcessGroup const& group, std::vector<ListExchange> lists, bool joins) {
    if (joins && group.joined != nullptr) {
        all_ = group.joined;
        all_->lists_.insert(all_->lists_.end(), lists.begin(), lists.end());
        return;
    }
    lists_ = std::move(lists);
    if (lists_.size() < 2) {
        if (lists_.empty() || lists_[0].unit == 0) return;
        auto const& l = lists_[0];
        open_ = l.to_all ? group.allgatherv(l.unit, l.in, l.out, l.out_counts)
                         : group.alltoallv(l.unit, l.in, l.counts, l.out, l.out_counts);
        return;
    }
    auto const ranks = static_cast<std::size_t>(group.size()), me = static_cast<std::size_t>(group.rank());
    counts_.assign(ranks, 0);
    out_counts_.assign(ranks, 0);
    for (auto const& l : lists_) {
        for (std::size_t r = 0; r < ranks; ++r) {
            if (r == me) continue;  // what this rank keeps is copied at once
            counts_[r] += l.bytes_to(r);
            out_counts_[r] += l.bytes_from(r);
        }
    }
    in_ = Buffer<std::byte>(total(counts_));
    out_ = Buffer<std::byte>(total(out_counts_));
    auto* to = in_.data();
    std::vector<std::size_t> from(lists_.size()), own(lists_.size());
    for (std::size_t r = 0; r < ranks; ++r) {
        for (std::size_t t = 0; t < lists_.size(); ++t) {
            auto const& l = lists_[t];
            std::size_t const bytes = l.bytes_to(r);
            auto* const at = r == me ? l.out.data() + own[t] : to;
            if (bytes != 0) std::memcpy(at, l.in.data() + from[t], bytes);
            if (r != me) to += bytes;
            if (r < me) own[t] += l.bytes_from(r);
            if (!l.to_all) from[t] += bytes;
        }
    }
    open_ = group.alltoallv(1, bytes_of(std::as_const(in_)), counts_, bytes_of(out_), out_counts_);
}

ROWAN_CALLED_FUNCTION void ListTransfer::wait() {
    if (all_ != nullptr) return std::exchange(all_, nullptr)->wait();
    if (open_ == nullptr) return;
    std::exchange(open_, nullptr)->wait();
    if (lists_.size() < 2) return;
    auto const* from = out_.data();
    std::vector<std::size_t> to(lists_.size());
    for (std::size_t r = 0; r < out_counts_.size(); ++r) {
        for (std::size_t t = 0; t < lists_.size(); ++t) {
            std::size_t const bytes = lists_[t].bytes_from(r);
            if (out_counts_[r] != 0 && bytes != 0) {  // 0 of this rank, whose bytes are there
                std::memcpy(lists_[t].out.data() + to[t], from, bytes);
                from += bytes;
            }
            to[t] += bytes;
        }
    }
}

ROWAN_CALLED_FUNCTION void exchange_lists(ProcessGroup const& group, std::vector<ListExchange> lists) {
    ListTransfer transfer;
    transfer.begin(group, std::move(lists));
    transfer.wait();
}

ROWAN_FUNCTION void begin_as_one(ProcessGroup const& group, std::function<void()> const& f) {
    group.joined = std::make_shared<ListTransfer>();
    try {
        f();
    } catch (...) {
        group.joined = nullptr;
        throw;
    }
    auto const all = std::exchange(group.joined, nullptr);
    all->begin(group, std::move(all->lists_));
}

}  // namespace rowan::inline v0::detail

#endif
