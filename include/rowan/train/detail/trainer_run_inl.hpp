// rowan/train/detail/trainer_run_inl.hpp: how an AnyTrainer runs its net.
#pragma once

#include <rowan/train/detail/any_trainer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/train/detail/feed.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <utility>

namespace rowan::inline v0::detail {

/// Marks a call until destruction.
class Entered {
public:
    /// errors   Error if another one holds the flag
    Entered(std::atomic_flag& flag, char const* what) : flag_(flag) {
        if (flag.test_and_set()) throw Error({what, " is running: it is for one thread at a time"});
    }
    Entered(Entered const&) = delete;
    Entered& operator=(Entered const&) = delete;
    ~Entered() { flag_.clear(); }

private:
    std::atomic_flag& flag_;
};

ROWAN_CALLED_FUNCTION double AnyTrainer::run(Feeds const& feeds, std::int64_t part,
                                             std::function<void(Operator const&)> const& after) {
    auto const inputs = net_->inputs();
    Buffer<Value> fed(inputs.size());
    if (feed(inputs, feeds, fed, exec_) != feeds.size()) {  // others are declared for other nets of the scope
        for (auto const& named : feeds) check_declared(cost_.scope(), named.first);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i]->role() == Role::data) inputs[i]->value() = std::move(fed[i]);
    }
    if (trained_ != nullptr) trained_->place(exec_.host(), static_cast<std::size_t>(part));
    {
        std::vector<Value> seeds(seeds_.size());
        for (std::size_t k = 0; k < seeds_.size(); ++k) exec_.set(seeds[k], std::array{seed_of(k, part)});
        Swapped const now(seeds_, seeds);  // outside of this run, they are empty tensors
        auto const ran = [&](Operator const& op) {
            losses_->after(op);
            if (after) after(op);
        };
        losses_->begin();
        in_order(exec_, [&] { net_->run(*own_, exec_, std::cref(ran)); });
    }
    auto const dims = cost_.value().spec().dims;
    if (std::ranges::any_of(dims, [](std::int64_t dim) { return dim != 1; }))
        throw ShapeError({cost_.name(), ".shape()"}, shape_text(dims), "[1] or []: reduce it with layer::reduce_mean");
    double const cost = type_.first(cost_.value(), exec_);
    if (losses_->most() == 0) return 0;  // it may be 0 / 0
    if (!std::isfinite(cost)) throw ValueError({"the cost ", cost_.name()}, cost, "a finite number");
    return cost;
}

ROWAN_CALLED_FUNCTION double AnyTrainer::factor() const { return schedule_ ? schedule_(steps_) : 1.0; }

ROWAN_CALLED_FUNCTION double AnyTrainer::prepare() {
    auto const first = std::exchange(first_factor_, std::nullopt);
    double const now = first ? *first : factor();
    updates_->prepare(steps_, now, false);
    return now;
}

ROWAN_CALLED_FUNCTION void AnyTrainer::catch_up_others(std::span<Variable* const> read) const {
    for (Variable* const v : read) {
        if (v->catch_up && (deferred_ == nullptr || !deferred_->contains(*v))) v->catch_up();
    }
}

ROWAN_CALLED_FUNCTION double AnyTrainer::step(std::span<Feeds const> batches, StepAhead const* ahead) {
    if (ranks_ != nullptr) ranks_->at_step(steps_ + 1);
    std::optional<Entered> entered;
    std::optional<ScopeUse> use;
    MemoryPool::Guard const guard(*pool_);
    std::optional<Emptied> after;  // whose memory the pool keeps
    struct EndOfStep {
        explicit EndOfStep(AnyTrainer& of) : trainer(of) {}
        EndOfStep(EndOfStep const&) = delete;
        EndOfStep& operator=(EndOfStep const&) = delete;
        AnyTrainer& trainer;
        ~EndOfStep() {
            if (trainer.trained_ != nullptr) trainer.trained_->end(trainer.deferred_.get());
        }
    };
    std::optional<EndOfStep> bound;
    auto const begin = [&] {  // once
        if (entered) return;
        entered.emplace(running_, "Trainer::step");
        use.emplace(cost_.scope());
        after.emplace(passing_);
        if (batches.empty() || std::cmp_greater(batches.size(), parts_))
            throw ShapeError("batches", batches.size(), {"1 to options.parts = ", parts_});
        bound.emplace(*this);
    };
    auto const enter = [&] {
        begin();
        catch_up_others(net_->inputs());
        if (trained_ != nullptr) trained_->bind(exec_.host(), batches, steps_ + 1, deferred_.get());
    };
    if (ranks_ != nullptr && trained_ != nullptr && trained_->by_keys())
        trained_->meet(*ranks_, batches, parts_of(batches), number_, begin);
    double const cost = functions_ == nullptr ? run_batch(batches, std::cref(enter))
                                              : (this->*functions_->run)(batches, ahead, std::cref(enter));
    if (rows_ != 0) {
        updates_->change(*own_, exec_, ranks_.get(), trained_.get());
        if (trained_ != nullptr) trained_->keep();
        ++steps_;
        for (Moving const& m : moving_) {
            if (m.changes) m.now->value() = std::exchange(m.next->value(), Value());
        }
    }
    if (ranks_ != nullptr) (this->*functions_->end_ranks)();
    if (rows_ != 0 && trained_ != nullptr) {
        auto const report = [&] { trained_->report(); };
        ranks_ == nullptr ? report() : ranks_->must(report);
    }
    return cost;
}

ROWAN_CALLED_FUNCTION double AnyTrainer::run_batch(std::span<Feeds const> batches, std::function<void()> const& enter) {
    enter();
    prepare();
    if (deferred_ != nullptr) deferred_->catch_up(exec_.host(), batches, {});
    double const cost = run(batches[0], 0);
    keep_part();
    return cost;
}

ROWAN_CALLED_FUNCTION void AnyTrainer::keep_part() {
    rows_ = losses_->most();
    for (Moving& m : moving_) m.changes = true;
    for (std::size_t i = 0; i < totals_.size(); ++i) {
        if (totals_[i] != results_[i]) totals_[i]->value() = std::exchange(results_[i]->value(), Value());
    }
}

}  // namespace rowan::inline v0::detail

#endif
