// rowan/distributed/detail/dense_exchange.hpp: DenseReduction, dense_allreduce of any element type.
#pragma once

#include <rowan/detail/dense_pieces.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace rowan::inline v0::detail {

/// A dense_allreduce that has begun: ranks have agreed, and slices of their sums travel to the ranks that add them up.
class DenseReduction {
public:
    /// `parts` checks this rank's parts, writes notice.same and gives them, one element for each, numbered from 0 on;
    /// notice.own[0] and [1] are this class's, notice.own[2] is a number that must be the same on all ranks.
    DenseReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type,
                   std::function<std::vector<DensePieces>(Notice&)> const& parts);
    /// For ranks that have agreed: rank r of P has the sums of the nodes of parts [r · total / P, (r + 1) · total / P).
    DenseReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type, DensePieces&& nodes,
                   std::int64_t total);
    /// The sum, narrowed. Called once.
    DensePieces finish();

private:
    void begin(std::vector<DensePieces>&& parts, std::vector<Notice> const& notices);
    void add_keys(std::int64_t first, std::int64_t end, std::int64_t total);
    void send();
    DensePieces end();
    std::size_t slice(std::size_t rank) const { return sliced(own_.elements, rank, keys_.size()); }
    static std::size_t sliced(std::size_t n, std::size_t rank, std::size_t ranks) {
        return n / ranks * rank + n % ranks * rank / ranks;
    }

    std::unique_ptr<ProcessGroup const> group_;
    Cpu exec_;
    ElementSums type_;
    std::vector<std::vector<std::int64_t>> keys_;  // of each rank's nodes
    std::vector<std::size_t> send_, receive_;
    DensePieces own_;
    Storage<std::byte> in_;
    std::unique_ptr<Transfer> transfer_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/dense_exchange_inl.hpp>
