// rowan/train/detail/trainer_step.hpp: TrainerStep, a step and its parts.
#pragma once

#include <rowan/train/detail/any_trainer.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/train/detail/cost_weight.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/detail/part_sums.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/feeds.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// What an AnyTrainer knows of parts.
struct TrainerParts {
    std::optional<CostWeight> weight = {};  // of a part, if there are several
    std::vector<Variable*> counted = {};    // what weights depend on and the net computes: emptied after each part
    std::vector<std::optional<Counted>> rows = {};  // of which moving_ are means
    PartSums sums = {};                             // of results_
};

/// A step: the parts of this rank, and what travels between ranks.
class TrainerStep {
public:
    TrainerStep(AnyTrainer& trainer, std::span<Feeds const> batches, AnyTrainer::StepAhead const* ahead)
        : t_(trainer), ranks_(trainer.ranks_.get()), exec_(trainer.exec_.host()), batches_(batches),
          total_(static_cast<std::int64_t>(batches.size())), parts_(trainer.parts_of(batches)),
          agreed_(trainer.overlap_ && ahead != nullptr && ahead->agreed),
          fetches_next_(trainer.overlap_ && ahead != nullptr && !trainer.tables_.empty()) {
        if (ahead != nullptr) next_ = ahead->next;
    }

    /// Calls enter(), runs the parts, agrees with the other ranks, sets totals_ and returns the cost of all as one batch.
    ROWAN_IF_CALLED double run(std::function<void()> const& enter) {
        fetch(enter);
        try {
            auto const run_own = [this, &enter](auto& words) { run_overlapped(words, enter); };
            auto const all = agree(ranks_, TrainCall::step, run_own, t_.number_);
            rows_.clear();
            check_same_word(all, 0, " has another number of batches for a step than ");
            check_same_word(all, 1, " has another factor of the learning rate than ");
            if (total_ > 1) {
                if (!back_.early) keep_fetched(all);
                if (ranks_ != nullptr) begin_sums();
                cost_ = t_.add_up(ranks_ == nullptr ? own_ : numbers_.take(), back_);
            } else {
                check_same_word(all, 2, " has another batch for the only part of a step than ");
            }
        } catch (...) {
            auto error = std::current_exception();
            t_.parted_->sums.drop();
            try {
                if (progress_) progress_->end(true);
            } catch (...) {
                error = std::current_exception();
            }
            try {
                reach_next();
            } catch (...) {  // of ranks that have ended: the error is what came first
            }
            std::rethrow_exception(error);
        }
        if (progress_) progress_->end(false);
        reach_next();
        if (total_ == 1) t_.keep_part();
        return cost_;
    }

private:
    /// Whether sums of gradients begin while the net runs.
    bool sums_early() const { return agreed_ && total_ > 1; }

    /// Gets the rows of sharded tables, if there are any.
    ROWAN_IF_CALLED void fetch(std::function<void()> const& enter) {
        fetched_ = std::move(t_.ahead_);
        if (fetched_ != nullptr && agreed_) {
            try {
                enter();
            } catch (...) {
                error_ = std::current_exception();
            }
            ranks_->must([this] { fetched_->end_rest(t_.tables()); });
        } else if (!t_.tables_.empty()) {
            fetched_ = t_.fetch(batches_, enter);
        }
        if (fetched_ == nullptr) return;
        rows_ = std::move(fetched_->rows);
        back_.tables = fetched_.get();
        if (sums_early()) ranks_->must([this] { find_early(); });
    }
    /// Finds the tables whose gradients go back to the ranks that have the rows, while the net runs.
    ROWAN_IF_CALLED void find_early() {
        if (!one_node_each(total_, *ranks_, fetched_->together)) return;
        for (auto const& [table, i] : t_.with_gradients_) {
            if (t_.parted_->sums.goes_to_owners(i)) back_.list.push_back({table, i, false});
        }
        back_.early = !back_.list.empty();
    }

    /// Runs the parts, with rows_ in place of the tables. What overlaps is begun, and later ended, by all ranks, whichever
    /// of them fails.
    ROWAN_IF_CALLED void run_overlapped(Ranks::Words& words, std::function<void()> const& enter) {
        Swapped const own_rows(t_.sharded_, rows_);
        if (fetches_next_) t_.ahead_ = t_.fetch_ahead(next_, rows_, *fetched_);
        if (fetches_next_ || sums_early())
            ranks_->must([this] { progress_ = ranks_->progress_thread(t_.ahead_.get()); });
        std::exception_ptr thrown;
        try {
            run_own(words, enter);
        } catch (...) {
            thrown = std::current_exception();
        }
        try {
            if (sums_early()) {
                if (thrown) ranks_->must([this] { t_.parted_->sums.begin_with_zeros(exec_, *ranks_, parts_, back_); });
                send_numbers();
            }
        } catch (...) {
            if (!thrown) throw;  // else all have ended
        }
        if (thrown) std::rethrow_exception(thrown);
    }
    /// Before tables change.
    ROWAN_IF_CALLED void reach_next() {
        progress_ = nullptr;
        if (t_.ahead_ && !t_.ahead_->reach()) t_.ahead_ = nullptr;
    }

    ROWAN_IF_CALLED void run_own(Ranks::Words& words, std::function<void()> const& enter) {
        if (error_) std::rethrow_exception(error_);
        if (t_.tables_.empty()) enter();
        words[0] = total_;
        words[1] = std::bit_cast<std::int64_t>(t_.prepare());
        auto const mine =
            batches_.subspan(static_cast<std::size_t>(parts_.begin), static_cast<std::size_t>(parts_.size()));
        if (t_.deferred_ != nullptr) t_.deferred_->catch_up(exec_, mine, t_.sharded_);
        t_.parted_->sums.begin(parts_);
        if (sums_early() && mine.empty()) t_.parted_->sums.begin_with_zeros(exec_, *ranks_, parts_, back_);
        for (std::int64_t p = parts_.begin; p < parts_.end; ++p) run_part(p);
        if (total_ == 1) {
            words[2] = t_.losses_->most() == 0 ? -1 : std::bit_cast<std::int64_t>(cost_);
        } else if (!back_.early) {
            find_fetched(words);
        }
    }

    ROWAN_IF_CALLED void run_part(std::int64_t p) {
        std::size_t operators = 0;
        auto const overlap = [&](Operator const&) { after_operator(++operators, p + 1 == parts_.end); };
        std::function<void(Operator const&)> after;
        if (fetches_next_ || sums_early()) after = std::cref(overlap);
        cost_ = t_.run(batches_[static_cast<std::size_t>(p)], p, after);
        if (total_ > 1) {
            auto const numbers = t_.numbers_of_part(cost_);
            own_.insert(own_.end(), numbers.begin(), numbers.end());
            t_.parted_->sums.add(exec_, t_.weights_of(numbers));
            for (Variable* const v : t_.results_) v->value().clear();
        }
        for (Variable* const v : t_.parted_->counted) v->value().clear();
    }
    /// When so many operators of a part have run.
    ROWAN_IF_CALLED void after_operator(std::size_t operators, bool last) {
        if (!progress_ && t_.ahead_) static_cast<void>(t_.ahead_->progress());
        if (!progress_ && back_.begun) static_cast<void>(fetched_->progress());
        if (!sums_early() || !last) return;
        auto const weights = [this] { return t_.weights_of(t_.numbers_of_part(0)); };
        t_.parted_->sums.begin_sums(exec_, operators, std::cref(weights), *ranks_, back_);
        t_.parted_->sums.progress();
    }

    /// What the parts tell of themselves; zeros of parts that have failed.
    ROWAN_IF_CALLED void send_numbers() {
        ranks_->must([this] {
            std::size_t const width = t_.count_of_numbers();
            own_.resize(width * static_cast<std::size_t>(parts_.size()));
            numbers_.begin(*ranks_, std::move(own_), width, total_);
        });
    }

    /// Begins what has not begun early. It travels as one: the time of few bytes is that of waiting for each other.
    ROWAN_IF_CALLED void begin_sums() {
        ranks_->as_one([this] {
            if (!sums_early()) send_numbers();
            t_.parted_->sums.begin_rest(exec_, *ranks_, back_);
        });
    }

    /// Finds the gradients of fetched rows, and tells in a word those of which this rank has other rows, and with another bit
    /// those that lack some. Tables whose numbers differ by 32 share bits: what one of them needs, all of them get.
    ROWAN_IF_CALLED void find_fetched(Ranks::Words& words) {
        if (fetched_ == nullptr || !one_node_each(total_, *ranks_, fetched_->together)) return;
        for (auto const& [table, i] : t_.with_gradients_) {
            auto const has = t_.parted_->sums.rows_of(i, fetched_->numbers[table]);
            if (has == RowsOf::others) words[2] |= bit_of(table);
            if (has == RowsOf::some) words[2] |= bit_of(table) << 32;
            back_.list.push_back({table, i, true});
        }
    }
    /// Keeps those of which all ranks have only rows that they have fetched.
    ROWAN_IF_CALLED void keep_fetched(std::vector<Ranks::Words> const& all) {
        std::int64_t any = 0;
        for (auto const& words : all) any |= words[2];
        for (auto& one : back_.list) one.all = (any >> 32 & bit_of(one.table)) == 0;
        std::erase_if(back_.list, [any](auto const& one) { return (any & bit_of(one.table)) != 0; });
    }
    static std::int64_t bit_of(std::size_t table) { return std::int64_t{1} << table % 32; }

    AnyTrainer& t_;
    Ranks const* ranks_;
    Cpu exec_;
    std::span<Feeds const> batches_, next_;
    std::int64_t total_;
    PartRange parts_;
    bool agreed_;        // that all ranks make this step, with options.overlap
    bool fetches_next_;  // whether rows for the next one are asked for
    double cost_ = 0;
    std::vector<double> own_;  // the numbers of this rank's parts
    NumbersOfParts numbers_;
    std::unique_ptr<FetchedTables> fetched_;
    std::vector<Value> rows_;
    std::exception_ptr error_;  // before the parts
    FetchedGradients back_;
    std::unique_ptr<ProgressThread> progress_;  // of what travels, by another thread
};

}  // namespace rowan::inline v0::detail

#endif
