// rowan/distributed/train_inl.hpp: the functions of train.hpp.
#pragma once

#include <rowan/distributed/train.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/device.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/dense_exchange.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/shards.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/distributed/remote_error.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/train/detail/ranks.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The ranks of a group. A template, of which the compiler makes nothing for a program that does not train on ranks.
template <class = void>
class RanksOfGroup final : public Ranks {
public:
    explicit RanksOfGroup(std::unique_ptr<ProcessGroup const> group)
        : Ranks(group->rank(), group->size()), group_(std::move(group)) {}

    std::chrono::milliseconds be_patient(std::chrono::milliseconds patience) const override {
        group_->expect({}, patience);
        return std::exchange(patience_, patience);
    }
    bool can_be_patient() const override { return group_->can_expect(); }
    void at_step(std::int64_t step) const override { step_ = step; }

    std::int64_t agree_on(TrainCall call, std::function<void(NamedValues&)> const& f) const override {
        group_->expect(expected_text(call, step_).data(), patience_);
        return agree_on_values(*group_, collective_of(call), f);
    }

    std::vector<Words> agree(TrainCall call, std::int64_t trainer,
                             std::function<void(Words&)> const& f) const override {
        std::vector<Words> words;
        group_->expect(expected_text(call, step_).data(), patience_);
        auto const notices = detail::agree(*group_, collective_of(call), [&](Notice& n) {
            n.same[0] = trainer;
            f(n.own);  // runs in any case: other ranks may wait for what it begins
            words.reserve(static_cast<std::size_t>(size()));
        });
        for (auto const& n : notices) words.push_back(n.own);
        return words;
    }

    void as_one(std::function<void()> const& f) const override {
        after_agreement(*group_, [&] { begin_as_one(*group_, f); });
    }
    std::function<void()> begin_gather(std::span<std::byte const> in, std::span<std::byte> out,
                                       std::span<std::size_t const> counts) const override {
        auto const begun = std::make_shared<ListTransfer>();
        begun->begin(*group_, {{1, in, {}, out, counts, true}});
        return [this, begun] { after_agreement(*group_, [&] { begun->wait(); }); };
    }

    std::unique_ptr<BegunSum> begin_sum(Cpu exec, ElementSums const& type, DensePieces&& nodes,
                                        std::int64_t total) const override {
        return std::make_unique<SumOf>(DenseReduction(*group_, exec, type, std::move(nodes), total), gathers_.get());
    }
    RowPieces sum(Cpu exec, ElementSums const& type, RowPieces&& nodes, std::int64_t total,
                  Placement const* own) const override {
        if (own != nullptr) return sum_own_rows(*group_, exec, type, nodes, total, *own);
        return RowReduction(*group_, exec, type, std::move(nodes), total).finish();
    }
    std::unique_ptr<FetchedTables> fetch(Cpu exec, std::span<TableRows const> tables) const override {
        return fetch_rows(*group_, route_, exec, tables);
    }
    void begin(bool overlap) const override {
        route_ = node_route(*group_);
        if (!overlap) return;
        ahead_ = group_->duplicate();
        gathers_ = group_->duplicate();
    }
    std::unique_ptr<ProgressThread> progress_thread(FetchedTables* ahead) const override {
        if (!group_->progress()) return nullptr;
        return std::make_unique<ThreadOf>(*group_, [this, ahead] {
            group_->progress();
            return ahead != nullptr && !ahead->progress();
        });
    }
    std::unique_ptr<FetchedTables> begin_fetch(Cpu exec, std::span<TableRows const> tables, bool told,
                                               std::vector<bool> waits, FetchedTables const& now) const override {
        return begin_fetch_rows(*group_, *ahead_, exec, tables, told, std::move(waits), now);
    }

private:
    /// Calls f(), which returns whether more is to come soon.
    class ThreadOf final : public ProgressThread {
    public:
        ThreadOf(ProcessGroup const& all, std::function<bool()> f)
            : thread_([this, &all, call = std::move(f)](std::stop_token const& stop) {
                  try {
                      after_agreement(all, [&] { run(stop, call); });
                  } catch (RemoteError const&) {
                      error_ = std::current_exception();
                      remote_ = true;
                  } catch (...) {
                      error_ = std::current_exception();
                  }
              }) {}
        void end(bool after_error) override {
            thread_ = {};
            if (error_ && !(after_error && remote_)) std::rethrow_exception(std::exchange(error_, nullptr));
        }

    private:
        static void run(std::stop_token const& stop, std::function<bool()> const& f) {
            std::mutex mutex;
            std::condition_variable_any never;
            std::unique_lock lock(mutex);
            while (!stop.stop_requested()) {
                bool const waits = f();
                never.wait_for(lock, stop, std::chrono::microseconds(waits ? 250 : 500), [] { return false; });
            }
        }

        std::exception_ptr error_;
        bool remote_ = false;  // whether it is of another rank
        std::jthread thread_;
    };
    struct SumOf final : BegunSum {
        SumOf(DenseReduction&& s, ProcessGroup const* all) : sum(std::move(s)), gathers(all) {}
        bool test() override { return sum.test(); }
        void gather() override {
            after_agreement(*gathers, [this] { sum.gather(*gathers); });
        }
        DensePieces finish() override { return sum.finish(); }
        DenseReduction sum;
        ProcessGroup const* gathers;
    };

    void run_or_end(std::function<void()> const& f) const override { after_agreement(*group_, f); }

    std::unique_ptr<ProcessGroup const> group_;
    mutable std::shared_ptr<NodeRoute const> route_;
    mutable std::unique_ptr<ProcessGroup const> ahead_, gathers_;  // with options.overlap
    mutable std::chrono::milliseconds patience_{};
    mutable std::int64_t step_ = 0;  // that this rank comes to
};

ROWAN_CALLED_FUNCTION std::shared_ptr<Ranks const> ranks_of(std::unique_ptr<ProcessGroup const> group) {
    return std::make_shared<RanksOfGroup<> const>(std::move(group));
}

}  // namespace rowan::inline v0::detail

#endif
