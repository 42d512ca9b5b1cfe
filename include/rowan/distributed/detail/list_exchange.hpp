// rowan/distributed/detail/list_exchange.hpp: ListTransfer, lists that travel between ranks as one.
#pragma once

#include <rowan/core/detail/config.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/distributed/detail/process_group.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// A list of which each rank gets some units, and what comes from each: as ProcessGroup::alltoallv, or, if all get all of
/// `in`, as allgatherv.
struct ListExchange {
    std::size_t unit;
    std::span<std::byte const> in;
    std::span<std::size_t const> counts;
    std::span<std::byte> out;
    std::span<std::size_t const> out_counts;
    bool to_all = false;  // without counts

    std::size_t bytes_to(std::size_t rank) const { return to_all ? in.size() : counts[rank] * unit; }
    std::size_t bytes_from(std::size_t rank) const { return out_counts[rank] * unit; }
};

/// Lists that travel as one. All ranks have as many.
class ListTransfer {
public:
    /// Begins to exchange them; what they refer to must stay until `wait`. With `joins`, the same on all ranks, they may
    /// begin later, as part of begin_as_one: all of these must stay until one has waited.
    /// cost     one exchange; of several lists, two copies
    ROWAN_IF_CALLED void begin(ProcessGroup const& group, std::vector<ListExchange> lists, bool joins = true) {
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
    bool test() { return all_ != nullptr ? all_->test() : open_ == nullptr || open_->test(); }
    ROWAN_IF_CALLED void wait() {
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

private:
    friend void begin_as_one(ProcessGroup const& group, std::function<void()> const& f);

    std::vector<ListExchange> lists_;
    std::vector<std::size_t> counts_, out_counts_;
    Buffer<std::byte> in_, out_;  // of several
    std::unique_ptr<Transfer> open_;
    std::shared_ptr<ListTransfer> all_;  // of which these lists are a part
};

/// Exchanges lists.
ROWAN_IF_CALLED inline void exchange_lists(ProcessGroup const& group, std::vector<ListExchange> lists) {
    ListTransfer transfer;
    transfer.begin(group, std::move(lists));
    transfer.wait();
}

/// Lists of at most so many bytes begin as one: a copy of more takes longer than an exchange.
inline constexpr std::size_t most_joined = std::size_t{1} << 20;

/// Runs f: the ListTransfers of this group that it begins, in the same order on all ranks, travel as one.
/// cost     that of f, one exchange and two copies
inline void begin_as_one(ProcessGroup const& group, std::function<void()> const& f) {
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
