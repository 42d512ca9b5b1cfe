// rowan/distributed/detail/row_fetch.hpp: RowFetch, the rows that ranks ask each other for.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

struct ListExchange;
struct RowRelay;

/// The rows that this rank asks each rank of a group for, each once, and those that each asks it for.
struct RowRequest {
    std::vector<std::int64_t> wanted;        // rank 0's first, until all are told
    std::vector<std::size_t> send, receive;  // how many, of each rank
    Buffer<std::int64_t> asked;              // rank 0's first

    /// Sends the rows that were asked for, answers[i] is that of asked[i], and receives those of `wanted`.
    ROWAN_IF_CALLED ListExchange fetch(std::size_t row_bytes, std::span<std::byte const> answers,
                                       std::span<std::byte> rows) const;
    /// The other way: a piece for each row of `wanted` goes to its rank, which receives those of `asked`.
    ROWAN_IF_CALLED ListExchange give(std::size_t row_bytes, std::span<std::byte const> pieces,
                                      std::span<std::byte> in) const;
};

/// The ids of a lookup, and which rows they make travel. Every id is asked for once; rows of this rank do not travel.
class RowFetch {
public:
    RowFetch() = default;
    /// errors   IndexError if an id is not a row of the table
    ROWAN_IF_CALLED RowFetch(Cpu exec, Slots const& slots, int rank, char const* field, Ids<> const& ids);

    /// Tells the owners the rows of several tables, of the same route.
    /// cost     two exchanges; by nodes, two in the node and two between nodes
    ROWAN_IF_CALLED static void ask(ProcessGroup const& group, std::span<RowFetch> tables);
    /// The same without a route in one exchange: rank r sends room for most[r] rows to each other rank, and asks none for
    /// more.
    ROWAN_IF_CALLED static void ask(ProcessGroup const& group, std::span<RowFetch> tables,
                                    std::span<std::size_t const> most);
    /// For the same in steps, by RowMessages, for exchanges that go on meanwhile: what is told,
    ROWAN_IF_CALLED static std::vector<RowRequest*> requests(std::span<RowFetch> tables);
    /// and it has come.
    ROWAN_IF_CALLED void has_been_asked();

    /// Of slots. The last of its rows may be none.
    RowPlan<> const& plan() const { return plan_; }
    Tensor<std::int64_t>::shape_type const& shape() const { return places_.shape(); }  ///< of the ids
    std::size_t received() const { return total(request_.send); }  ///< the number of distinct rows of other ranks
    std::size_t others() const { return plan_.rows().size() - own_.size(); }  ///< the same, and one more if an id is -1
    std::size_t own_begin() const { return own_begin_; }                      ///< of own() in plan().rows()
    Buffer<std::int64_t> const& own() const { return own_; }  ///< distinct rows of this rank, as in its table
    /// Those that other ranks want: a list of each rank, which ascends. With a route, first a list of each node, and then
    /// one of each rank of the own node.
    Buffer<std::int64_t> const& asked() const { return asked_; }
    std::vector<std::size_t> const& asked_counts() const { return asked_counts_; }  ///< of each list
    /// Of the rows of other ranks: of each rank, or place in the nodes.
    std::vector<std::size_t> const& wanted_counts() const { return request_.send; }
    /// Where a row of plan() is: below others(), among those that others have; or others() plus its number in own().
    std::size_t place(std::size_t k) const {
        if (k < own_begin_) return k;
        return k < own_begin_ + own_.size() ? k - own_begin_ + others() : k - own_.size();
    }
    std::size_t ranks() const { return slots_.splits().size() - 1; }  ///< the number of ranks
    /// The number of each: each rank is a part of the sums of a lookup's gradients.
    ROWAN_IF_CALLED std::vector<std::int64_t> rank_keys() const;
    /// The rows of this rank that its ids or other ranks name; or some, those with a nonzero number, of own() and of asked().
    ROWAN_IF_CALLED MetRows met(std::span<std::uint8_t const> own = {}, std::span<std::uint8_t const> asked = {}) const;

    RowRequest const& request() const { return request_; }  ///< of all ranks, or of those of the node
    RowRelay const* relay() const { return relay_.get(); }  ///< null: without a route
    NodeRoute const* route() const { return slots_.route().get(); }

    /// Sends the rows that other ranks ask for, answers[i] for asked()[i], and receives its own.
    ROWAN_IF_CALLED void send_rows(ProcessGroup const& group, std::size_t row_bytes, std::span<std::byte const> answers,
                                   std::span<std::byte> come) const;
    /// Sends a piece for each row that other ranks have, and receives those for asked(). Each rank is a part.
    ROWAN_IF_CALLED void give_rows(Cpu exec, ProcessGroup const& group, ElementSums const& type, std::size_t row_bytes,
                                   std::span<std::byte const> pieces, std::span<std::byte> came) const;

    /// The address of the row of id i: in this rank's table, or among the others that have come.
    struct Rows {
        std::byte const *table, *came;
        std::int64_t const* places;
        std::size_t bytes;

        std::byte const* operator()(std::size_t i) const {
            std::int64_t const at = places[i];
            return at >= 0 ? table + static_cast<std::size_t>(at) * bytes
                           : came + static_cast<std::size_t>(~at) * bytes;
        }
    };
    Rows rows(void const* table, void const* came, std::size_t bytes) const {
        return {static_cast<std::byte const*>(table), static_cast<std::byte const*>(came), places_.data(), bytes};
    }

private:
    /// Tells the ranks of a group the next request of each table.
    ROWAN_IF_CALLED static void tell(ProcessGroup const& group, std::span<RowFetch> tables);
    ROWAN_IF_CALLED void has_been_asked_by_nodes();
    ROWAN_IF_CALLED void set_asked(Buffer<std::int64_t>&& slots, std::vector<std::size_t> counts);

    Slots slots_;
    int rank_ = 0;
    RowPlan<> plan_;
    Tensor<std::int64_t> places_;  // for each id, its row in the table of this rank, or ~i of the others
    std::size_t own_begin_ = 0;    // of plan_.rows()
    RowRequest request_;
    Buffer<std::int64_t> own_, asked_;
    std::vector<std::size_t> asked_counts_;
    std::shared_ptr<RowRelay> relay_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/row_transfers.hpp>
