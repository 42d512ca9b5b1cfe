// rowan/distributed/detail/row_transfers.hpp: FetchTransfer and GiveTransfer, rows and pieces for them on their way.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/distributed/detail/list_exchange.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_fetch.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Rows of several tables on their way to the ranks that have asked for them; all have the same route.
class FetchTransfer {
public:
    /// Rows of so many bytes: answers[i] is that of fetch->asked()[i], and fetch->received() others come.
    struct Rows {
        RowFetch const* fetch;
        std::size_t bytes;
        std::span<std::byte const> answers;
        std::span<std::byte> come;
        Buffer<std::byte> of_nodes = {},
                          of_node = {};  // by a route: what comes for the ranks of this node, and goes to them
    };
    /// What they refer to must stay until `wait`.
    ROWAN_IF_CALLED void add(Rows rows);
    ROWAN_IF_CALLED void begin(ProcessGroup const& group);
    ROWAN_IF_CALLED void wait();

private:
    std::vector<Rows> tables_;
    ListTransfer lists_;
};

/// Pieces for the rows of several lookups on their way to the ranks that have the rows. What a node has for a row of
/// another travels as one sum.
class GiveTransfer {
public:
    /// A piece, of so many bytes, for each row that `fetch` has received; came[i] is for row i of fetch->asked(). Unless
    /// `all` have one, on all ranks, there is a nonzero number for those that do.
    struct Pieces {
        RowFetch const* fetch;
        ElementSums type;
        std::size_t bytes;
        std::span<std::byte const> send;
        std::span<std::byte> came;
        bool all = true;
        std::span<std::uint8_t const> send_which = {};
        std::span<std::uint8_t> came_which = {};
        // By a route: those of the ranks of this node, for rows of the ranks at this place.
        Buffer<std::byte> of_node = {}, sums = {};
        std::vector<std::uint8_t> of_node_which = {}, sums_which = {};
    };
    /// What they refer to must stay until `wait`. `joins` as for ListTransfer.
    ROWAN_IF_CALLED void add(Pieces pieces);
    ROWAN_IF_CALLED void begin(ProcessGroup const& group, bool joins = true);
    bool test() { return lists_.test(); }
    /// Rank r brings the node of parts that begins with keys[r].
    ROWAN_IF_CALLED void wait(Cpu exec, std::span<std::int64_t const> keys);

private:
    ROWAN_IF_CALLED static void sum(Cpu exec, Pieces& pieces, std::span<std::int64_t const> keys);

    std::vector<Pieces> lookups_;
    ListTransfer lists_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/row_transfers_inl.hpp>
