// rowan/distributed/detail/list_exchange.hpp: ListTransfer, lists that travel between ranks as one.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/distributed/detail/process_group.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
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
    ROWAN_IF_CALLED void begin(ProcessGroup const& group, std::vector<ListExchange> lists, bool joins = true);
    bool test() { return all_ != nullptr ? all_->test() : open_ == nullptr || open_->test(); }
    ROWAN_IF_CALLED void wait();

private:
    friend void begin_as_one(ProcessGroup const& group, std::function<void()> const& f);

    std::vector<ListExchange> lists_;
    std::vector<std::size_t> counts_, out_counts_;
    Buffer<std::byte> in_, out_;  // of several
    std::unique_ptr<Transfer> open_;
    std::shared_ptr<ListTransfer> all_;  // of which these lists are a part
};

/// Exchanges lists.
ROWAN_IF_CALLED void exchange_lists(ProcessGroup const& group, std::vector<ListExchange> lists);

/// Lists of at most so many bytes begin as one: a copy of more takes longer than an exchange.
inline constexpr std::size_t most_joined = std::size_t{1} << 20;

/// Runs f: the ListTransfers of this group that it begins, in the same order on all ranks, travel as one.
/// cost     that of f, one exchange and two copies
void begin_as_one(ProcessGroup const& group, std::function<void()> const& f);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/list_exchange_inl.hpp>
