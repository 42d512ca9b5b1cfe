// rowan/distributed/train.hpp: train on several ranks: layer::Comm from a communicator.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/dense_exchange.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/shards.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/train/comm.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/train.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The ranks of a communicator, which train together: what makes layer::CommOn take it.
template <communicator C>
class RanksOf<C> final : public Ranks {
public:
    explicit RanksOf(C const& comm) : Ranks(comm.rank(), comm.size()), comm_(comm), group_(comm) {}

    std::int64_t agree_on(TrainCall call, std::function<void(NamedValues&)> const& f) const override {
        return agree_on_values(group_, collective_of(call), f);
    }

    std::vector<Words> agree(TrainCall call, std::int64_t trainer,
                             std::function<void(Words&)> const& f) const override {
        std::vector<Words> words;
        auto const notices = detail::agree(group_, collective_of(call), [&](Notice& n) {
            words.reserve(static_cast<std::size_t>(size()));
            n.same[0] = trainer;
            f(n.own);
        });
        for (auto const& n : notices) words.push_back(n.own);
        return words;
    }

    void gather(std::span<std::byte const> in, std::span<std::byte> out,
                std::span<std::size_t const> counts) const override {
        group_.allgatherv(1, in, out, counts)->wait();
    }

    std::function<DensePieces()> begin_sum(Cpu exec, ElementSums const& type, DensePieces&& nodes,
                                           std::int64_t total) const override {
        auto const sum = std::make_shared<DenseReduction>(group(), exec, type, std::move(nodes), total);
        return [sum] { return sum->finish(); };
    }
    RowPieces sum(Cpu exec, ElementSums const& type, RowPieces&& nodes, std::int64_t total,
                  Placement const* own) const override {
        if (own != nullptr) return sum_own_rows(group(), exec, type, nodes, total, *own);
        return RowReduction(group(), exec, type, std::move(nodes), total).finish();
    }
    std::unique_ptr<FetchedTables> fetch(Cpu exec, std::span<TableRows const> tables,
                                         BeforeRead const& before) const override {
        return fetch_rows(group_, exec, tables, before);
    }

private:
    void run_or_end(std::function<void()> const& f) const override { after_agreement(group_, f); }

    std::unique_ptr<ProcessGroup const> group() const { return std::make_unique<GroupOf<C>>(comm_); }

    C comm_;
    GroupOf<C> group_;
};

}  // namespace rowan::inline v0::detail
