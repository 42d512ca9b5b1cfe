// rowan/distributed/train.hpp: train on several ranks: layer::Comm from a communicator.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/dense_exchange.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/shards.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/train/comm.hpp>
#include <rowan/train/detail/part_exchange.hpp>
#include <rowan/train/train.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// A DenseReduction of a step.
class PendingSum final : public PendingPieces {
public:
    explicit PendingSum(std::unique_ptr<DenseReduction> reduction) : reduction_(std::move(reduction)) {}
    DensePieces finish() override { return reduction_->finish(); }

private:
    std::unique_ptr<DenseReduction> reduction_;
};

/// The ranks of a communicator, which train together: what makes layer::CommOn take it.
template <communicator C>
class TrainRanks<C> final : public PartExchange {
public:
    explicit TrainRanks(C const& comm) : comm_(comm), group_(comm) {}

    int rank() const override { return comm_.rank(); }
    int size() const override { return comm_.size(); }

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

    std::unique_ptr<PendingPieces> begin_dense(Cpu exec, ElementSums const& type, DensePieces&& nodes,
                                               std::int64_t total) const override {
        return std::make_unique<PendingSum>(
            std::make_unique<DenseReduction>(std::make_unique<GroupOf<C>>(comm_), exec, type, std::move(nodes), total));
    }

    RowPieces sum_rows(Cpu exec, ElementSums const& type, RowPieces&& nodes, std::int64_t total) const override {
        return RowReduction(std::make_unique<GroupOf<C>>(comm_), exec, type, std::move(nodes), total).finish();
    }

    std::vector<std::int64_t> rows_of(std::int64_t height) const override {
        return rows_of_rank(shards_of(height, size()), rank());
    }
    Value fetch(Cpu exec, Value const& own, std::span<std::int64_t const> rows) const override {
        return fetch_rows(group_, exec, own, rows);
    }
    RowPieces sum_own_rows(Cpu exec, ElementSums const& type, RowPieces&& nodes, std::int64_t total) const override {
        return detail::sum_own_rows(std::make_unique<GroupOf<C>>(comm_), exec, type, nodes, total);
    }
    Value own_rows(Value const& gradient) const override { return detail::own_rows(gradient, rank(), size()); }

private:
    void run_or_end(std::function<void()> const& f) const override { after_agreement(group_, f); }

    C comm_;
    GroupOf<C> group_;
};

}  // namespace rowan::inline v0::detail
