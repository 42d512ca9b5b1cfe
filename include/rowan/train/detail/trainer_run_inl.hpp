// rowan/train/detail/trainer_run_inl.hpp: how an AnyTrainer runs its net, and what it gets from other ranks.
#pragma once

#include <rowan/train/detail/any_trainer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/detail/trainer_step.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <unordered_set>
#include <utility>

namespace rowan::inline v0::detail {

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
        throw ShapeError(cost_.name() + ".shape()", shape_text(dims), "[1] or []: reduce it with layer::reduce_mean");
    double const cost = type_.first(cost_.value(), exec_);
    if (losses_->most() == 0) return 0;  // it may be 0 / 0
    if (!std::isfinite(cost)) throw ValueError(std::string("the cost ").append(cost_.name()), cost, "a finite number");
    return cost;
}

ROWAN_CALLED_FUNCTION double AnyTrainer::step(std::span<Feeds const> batches, StepAhead const* ahead) {
    if (ranks_ != nullptr) ranks_->at_step(steps_ + 1);
    std::optional<Entered> entered;
    std::optional<ScopeUse> use;
    MemoryPool::Guard const guard(*pool_);
    std::optional<Emptied> after;  // whose memory the pool keeps
    auto const enter = [&] {
        entered.emplace(running_, "Trainer::step");
        use.emplace(cost_.scope());
        after.emplace(passing_);
        deferred_.catch_up_others(net_->inputs());
    };
    double const cost =
        TrainerStep(*this, batches, ahead).run(std::cref(enter));  // which needs no memory before ranks agree
    if (rows_ != 0) {
        updates_->change(*own_, exec_, ranks_.get());
        ++steps_;
        for (Moving const& m : moving_) {
            if (m.changes) m.now->value() = std::exchange(m.next->value(), Value());
        }
    }
    if (ahead_) ranks_->must([this] { begin_rest(*ahead_); });
    if (rows_ != 0 && check_every_ != 0 && steps_ % check_every_ == 0) check_ranks();
    return cost;
}

ROWAN_CALLED_FUNCTION std::vector<std::vector<std::int64_t>> AnyTrainer::rows_of(std::span<Feeds const> batches) const {
    auto const parts = parts_of(batches);
    std::vector<std::vector<std::int64_t>> all;
    for (auto const& t : tables_)
        all.push_back(t.rows(exec_.host(), batches.subspan(static_cast<std::size_t>(parts.begin),
                                                           static_cast<std::size_t>(parts.size()))));
    return all;
}

ROWAN_CALLED_FUNCTION std::unique_ptr<FetchedTables> AnyTrainer::fetch(std::span<Feeds const> batches,
                                                                       std::function<void()> const& begin) const {
    auto const& ranks = *ranks_;
    std::unique_ptr<FetchedTables> fetched;
    auto const find_rows = [&](auto& words) {
        begin();
        auto const named = rows_of(batches);
        std::vector<TableRows> asked;
        for (std::size_t t = 0; t < tables_.size(); ++t)
            asked.push_back({&sharded_[t]->value(), sharded_[t]->placement, named[t]});
        fetched = ranks.fetch(exec_.host(), asked);
        words = {static_cast<std::int64_t>(batches.size()), fetched->most_of_one, fetched->of_others};
    };
    auto const all = agree(&ranks, TrainCall::fetch, find_rows, number_);
    check_same_word(all, 0, " has another number of batches for a step than ");
    ranks.must([&] {
        fetched->ask(all);
        begin_rest(*fetched);
        fetched->end_rest(tables());
    });
    return fetched;
}

ROWAN_CALLED_FUNCTION std::vector<Value const*> AnyTrainer::tables() const {
    std::vector<Value const*> own;
    for (Variable const* const v : sharded_) own.push_back(&v->value());
    return own;
}

ROWAN_CALLED_FUNCTION void AnyTrainer::begin_rest(FetchedTables& fetched) const {
    fetched.begin_rest(tables(), [&](std::size_t t, Ids<> const& positions) {
        deferred_.catch_up(exec_.host(), *sharded_[t], positions);
    });
}

ROWAN_CALLED_FUNCTION std::unique_ptr<FetchedTables> AnyTrainer::fetch_ahead(std::span<Feeds const> next,
                                                                             std::span<Value const> tables,
                                                                             FetchedTables const& now) const {
    std::vector<std::vector<std::int64_t>> named;
    bool told = !next.empty();
    try {
        if (told) named = rows_of(next);
    } catch (...) {  // the next step throws it
        told = false;
    }
    std::unique_ptr<FetchedTables> fetched;
    ranks_->must([&] {
        if (!told) named.assign(tables_.size(), {});
        std::vector<TableRows> asked;
        for (std::size_t t = 0; t < tables_.size(); ++t)
            asked.push_back({&tables[t], sharded_[t]->placement, named[t]});
        std::vector<bool> waits(tables_.size());  // whether rows change that no batch names
        std::unordered_set<Variable const*> deferred;
        updates_->each_deferred([&](Variable const& table, auto const&) { deferred.insert(&table); });
        for (std::size_t t = 0; t < tables_.size(); ++t) waits[t] = deferred.contains(sharded_[t]);
        fetched = ranks_->begin_fetch(exec_.host(), asked, told, std::move(waits), now);
    });
    return fetched;
}

ROWAN_CALLED_FUNCTION double AnyTrainer::add_up(std::vector<double> const& all, FetchedGradients& fetched) {
    std::size_t const width = count_of_numbers(), costs = width - moving_.size();
    double cost = 0, rows = 0;
    std::vector<double> divisors;
    try {
        std::vector<double> moved(moving_.size());
        for (std::size_t at = 0; at < all.size(); at += width) {
            cost = cost + product(weight_->of_part(std::span(all).subspan(at + 2)), all[at]);
            rows += all[at + 1];
            for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += all[at + costs + k];
        }
        double const divisor = rows == 0 ? 0 : weight_->divisor(std::span(all).subspan(2), width);
        cost = mean_of(cost, divisor);
        divisors.assign(results_.size() - moving_.size(), divisor);
        divisors.insert(divisors.end(), moved.begin(), moved.end());
        for (std::size_t k = 0; k < moved.size(); ++k) moving_[k].changes = moved[k] != 0;
    } catch (std::bad_alloc const&) {  // on this rank alone, where the others go on; other errors are those of all
        if (ranks_ != nullptr) ranks_->must([] { throw; });
        throw;
    }
    auto means = sums_.means(exec_.host(), exec_, divisors, ranks_.get(), fetched);
    std::size_t const first = means.size() - moving_.size();
    for (std::size_t k = 0; k < moving_.size(); ++k) {
        if (moving_[k].changes) check_moved(*moving_[k].now, means[first + k]);
    }
    for (std::size_t i = 0; i < means.size(); ++i) totals_[i]->value() = std::move(means[i]);
    rows_ = static_cast<std::int64_t>(rows);
    return cost;
}

}  // namespace rowan::inline v0::detail

#endif
