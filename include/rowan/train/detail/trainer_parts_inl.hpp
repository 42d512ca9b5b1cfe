// rowan/train/detail/trainer_parts_inl.hpp: what an AnyTrainer does with options.parts: parts of steps, and those of ranks.
#pragma once

#include <rowan/train/detail/any_trainer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/train/detail/trainer_step.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION PartsFunctions PartsFunctions::make() {
    return {&AnyTrainer::build_parts, &AnyTrainer::run_parts, &AnyTrainer::tell_ranks, &AnyTrainer::begin_ranks,
            &AnyTrainer::end_ranks};
}

ROWAN_CALLED_FUNCTION PartsFunctions const& parts_functions() {
    static PartsFunctions const all = PartsFunctions::make();
    return all;
}

ROWAN_CALLED_FUNCTION void AnyTrainer::build_parts(TrainSettings const& options, std::vector<Variable*>& outputs) {
    parted_ = std::make_shared<TrainerParts>();
    for (std::size_t i = 0; i < results_.size(); ++i) {
        bool const trained = i < parameters_.size();
        Variable const& like = trained ? *parameters_[i] : *moving_[i - parameters_.size()].now;
        bool const own = like.sharded() && !options.clip.given();  // clipping may need the norm of all rows
        parted_->sums.sum(
            options.parts.sums_of(*results_[i], std::string(trained ? "the gradient of " : "").append(like.name())),
            *results_[i], like, own ? &like.placement : nullptr);
    }
    for (Moving const& m : moving_) parted_->rows.push_back(rows_of_input(*m.writer));
    if (parts_ == 1) return;
    auto& counted = parted_->counted;
    counted = parted_->weight.emplace(cost_).reads();
    for (auto const& rows : parted_->rows) {
        if (rows) counted.push_back(rows->variable);
    }
    outputs.insert(outputs.end(), counted.begin(), counted.end());
    std::erase_if(counted, [&](Variable const* v) {
        return v == &cost_ || v->role() != Role::temporary || v->writers().empty();
    });
}

ROWAN_CALLED_FUNCTION double AnyTrainer::run_parts(std::span<Feeds const> batches, StepAhead const* ahead,
                                                   std::function<void()> const& enter) {
    return TrainerStep(*this, batches, ahead).run(enter);  // which needs no memory before ranks agree
}

/// Adds what ranks must have the same. Of a schedule, factors are compared in each step.
inline void add_options(NamedValues& to, TrainSettings const& options) {
    to.add("options.parts", options.parts.count());
    to.add("options.check_every", options.check_every);
    to.add("options.overlap", std::int64_t{options.overlap});
    to.add("options.seed", std::to_string(options.seed));
    to.add("options.optimizer", options.optimizer.values());
    auto const of = [](char const* list, std::string_view name) {
        return std::string(list).append("[\"").append(name).append("\"]");
    };
    for (auto const& [name, optimizer] : options.optimizers) to.add(of("options.optimizers", name), optimizer.values());
    for (auto const& [name, rate] : options.rates) to.add(of("options.rates", name), rate);
    if (options.clip.given()) to.add("options.clip", options.clip.values());
    if (options.average) to.add("options.average", options.average.values());
    if (options.schedule) to.add("options.schedule", std::string_view("given"));
}

ROWAN_CALLED_FUNCTION void AnyTrainer::tell_ranks(NamedValues& to, TrainSettings const& options) const {
    add_options(to, options);
    to.add("the number of steps", steps_);
    auto all = variables();  // but for rows
    TableNames tables;
    for (Variable* const t : sharded_) tables.add(t);
    if (trained_ != nullptr) trained_->tell_ranks(to);
    std::erase_if(all, [&](Variable const* v) {
        if (TrainedTables::has(*v)) return true;  // rows that no key has may differ
        auto const* const table = tables.find(v->name());
        return table != nullptr && table != v;
    });
    add_variables(to, all, "first value");
}

ROWAN_CALLED_FUNCTION void AnyTrainer::begin_ranks() {
    ranks_->must([this] {
        ranks_->begin(overlap_);
        if (overlap_) parted_->sums.overlap(ready());
    });
}

ROWAN_CALLED_FUNCTION void AnyTrainer::end_ranks() {
    if (ahead_) ranks_->must([this] { begin_rest(*ahead_); });
    if (rows_ != 0 && check_every_ != 0 && steps_ % check_every_ == 0) check_ranks();
}

ROWAN_CALLED_FUNCTION void AnyTrainer::check_ranks() const {
    agree_on(ranks_.get(), TrainCall::check, [&](NamedValues& same) {
        auto all = variables();
        TableNames left_out;
        for (Variable* const table : sharded_) left_out.add(table);
        updates_->each_deferred([&](Variable& table, auto const&) { left_out.add(&table); });
        if (trained_ != nullptr) trained_->tell_ranks(same);
        std::erase_if(all,
                      [&](Variable const* v) { return TrainedTables::has(*v) || left_out.find(v->name()) != nullptr; });
        add_variables(same, all, "value");
    });
}

ROWAN_CALLED_FUNCTION std::vector<std::size_t> AnyTrainer::ready() const {
    std::unordered_map<Variable const*, std::size_t> made;
    std::size_t n = 0;
    for (Operator const* op : net_->operators()) {
        ++n;
        for (Variable const* v : op->outputs) made[v] = n;
    }
    auto const computed = [&](Variable const* v) {
        auto const found = made.find(v);
        return found == made.end() ? 0 : found->second;
    };
    std::size_t weighed = losses_->ready();
    if (parted_->weight) {
        for (Variable const* const v : parted_->weight->reads()) weighed = std::max(weighed, computed(v));
    }
    for (auto const& rows : parted_->rows) {
        if (rows) weighed = std::max(weighed, computed(rows->variable));
    }
    std::vector<std::size_t> all;
    for (Variable const* const v : results_) all.push_back(std::max(weighed, computed(v)));
    return all;
}

ROWAN_CALLED_FUNCTION std::vector<double> AnyTrainer::numbers_of_part(double cost) const {
    std::vector<double> all{cost, static_cast<double>(losses_->most())};
    if (losses_->most() != 0) {
        parted_->weight->append_to(all);
    } else {
        all.resize(2 + parted_->weight->size());
    }
    for (auto const& rows : parted_->rows) all.push_back(rows ? rows->count() : 1);
    return all;
}

ROWAN_CALLED_FUNCTION std::size_t AnyTrainer::count_of_numbers() const {
    return 2 + parted_->weight->size() + moving_.size();
}

ROWAN_CALLED_FUNCTION PartSums::Weights AnyTrainer::weights_of(std::span<double const> numbers) const {
    PartSums::Weights all(results_.size() - moving_.size());
    if (numbers[1] != 0) std::ranges::fill(all, parted_->weight->of_part(numbers.subspan(2)));
    for (std::size_t k = 0; k < moving_.size(); ++k) {
        double const rows = numbers[2 + parted_->weight->size() + k];
        all.push_back(rows != 0 ? std::optional(rows) : std::nullopt);
    }
    return all;
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
        if (deferred_ != nullptr) deferred_->catch_up(exec_.host(), *sharded_[t], positions);
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
            cost = cost + product(parted_->weight->of_part(std::span(all).subspan(at + 2)), all[at]);
            rows += all[at + 1];
            for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += all[at + costs + k];
        }
        double const divisor = rows == 0 ? 0 : parted_->weight->divisor(std::span(all).subspan(2), width);
        cost = mean_of(cost, divisor);
        divisors.assign(results_.size() - moving_.size(), divisor);
        divisors.insert(divisors.end(), moved.begin(), moved.end());
        for (std::size_t k = 0; k < moved.size(); ++k) moving_[k].changes = moved[k] != 0;
    } catch (std::bad_alloc const&) {  // on this rank alone, where the others go on; other errors are those of all
        if (ranks_ != nullptr) ranks_->must([] { throw; });
        throw;
    }
    auto means = parted_->sums.means(exec_.host(), exec_, divisors, ranks_.get(), fetched);
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
