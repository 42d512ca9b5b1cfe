// rowan/train/train_inl.hpp: definitions of rowan/train/train.hpp: TrainLoop, the epochs and steps of train.
#pragma once

#include <rowan/train/train.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/detail/any_trainer.hpp>
#include <rowan/train/detail/epochs.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/detail/train_position.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// What train does with any reader. The arguments must outlive it.
class TrainLoop {
public:
    ROWAN_IF_CALLED TrainLoop(Variable& cost, CostType const& type, DeviceExec const& exec,
                              TrainSettings const& options);
    ROWAN_IF_CALLED Parameters run(ReadEpoch const& read);

private:
    using Words = Ranks::Words;

    ROWAN_IF_CALLED void read_epoch(ReadEpoch const& read, std::int64_t epoch);
    ROWAN_IF_CALLED bool take(Feeds const& feeds);
    /// Makes a step of parts_, or, with options.overlap, the one before, for which these are the next.
    ROWAN_IF_CALLED void take_parts();
    ROWAN_IF_CALLED void step(std::span<Feeds const> parts, std::span<Feeds const> next);
    ROWAN_IF_CALLED void step_last();
    /// Whether all ranks go on, where each calls f, which returns whether it does. Sets agreed_.
    ROWAN_IF_CALLED bool all_go_on(std::function<bool()> const& f, std::size_t next_parts = 0);
    /// Makes the trainer, from the last save of options.checkpoint if there is one.
    ROWAN_IF_CALLED void go_on();
    ROWAN_IF_CALLED void save(bool last);

    Variable& cost_;
    CostType const& type_;
    DeviceExec const& exec_;
    TrainSettings const& options_;
    Ranks const* ranks_;
    Patience patience_;
    std::optional<ScopeUse> use_;
    std::optional<Epochs> epochs_;
    std::optional<AnyTrainer> trainer_;
    bool overlaps_;
    std::vector<Feeds> parts_, waiting_;    // of the next step, and with options.overlap of the one before
    bool agreed_ = false;                   // whether all ranks make the next step, of as many parts
    std::int64_t epoch_ = 0, batches_ = 0;  // which epoch, and of how many of its batches steps have been made
    std::int64_t read_ = 0, known_ = 0;     // how many have been read, of these before the last save
    bool changed_ = false;                  // since the last save was loaded; or rows there have missed steps
    bool more_ = true;
    bool reads_ = false;  // whether an error is one of the reader, of which other ranks do not know
};

ROWAN_CALLED_FUNCTION ROWAN_RARE TrainLoop::TrainLoop(Variable& cost, CostType const& type, DeviceExec const& exec,
                                                      TrainSettings const& options)
    : cost_(cost), type_(type), exec_(exec), options_(options), ranks_(options.ranks.get()),
      patience_(ranks_, options.patience), overlaps_(options.overlap && ranks_ != nullptr) {
    agree_on(ranks_, TrainCall::train, [&](NamedValues& same) {
        patience_.check();
        if (options.epochs < 0) throw ValueError("epochs", options.epochs, "0 or more");
        use_.emplace(cost_.scope());
        epochs_.emplace(options.metrics, options.stop);
        same.add("options.epochs", options.epochs);
        if (options.stop) add_fields(same, "options.stop.", *options.stop);
        if (!options.checkpoint) return;
        check_checkpoint(options.checkpoint, ranks_ == nullptr ? 1 : ranks_->size());
        same.add("options.checkpoint.every", options.checkpoint.every);
    });
    options.checkpoint ? go_on() : static_cast<void>(trainer_.emplace(cost_, type_, exec_, options));
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void TrainLoop::go_on() {
    auto saved = options_.checkpoint.load(cost_);
    std::optional<TrainSettings> from_save;
    auto const all = agree(ranks_, TrainCall::go_on, [&](Words& words) {
        words[0] = saved ? 1 : 0;
        if (!saved) return;
        TrainPosition at = TrainPosition::taken_from(*saved);
        words[1] = epoch_ = at.epoch;
        words[2] = known_ = batches_ = at.batches;
        changed_ = std::ranges::any_of(*saved, [](auto const& v) { return v.first.ends_with("#made"); });
        epochs_->begin(std::move(at));
        more_ = !epochs_->ended();
        from_save.emplace(options_);
        from_save->initial = nullptr;
        from_save->resume = &*saved;
    });
    for (std::size_t word = 0; word < 3; ++word) check_same_word(all, word, " goes on from another save than ");
    trainer_.emplace(cost_, type_, exec_, from_save ? *from_save : options_);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void TrainLoop::save(bool last) {
    Parameters all;
    agree(ranks_, TrainCall::save, [&](Words&) {
        if (last) trainer_->flush();  // the result is of this save, too
        all = epochs_->position(epoch_, batches_).added_to(trainer_->parameters(Saving::with_others));
    });
    options_.checkpoint.save(cost_, all);
    trainer_->saved_others();
}

ROWAN_CALLED_FUNCTION bool TrainLoop::all_go_on(std::function<bool()> const& f, std::size_t next_parts) {
    auto const next = static_cast<std::int64_t>(next_parts);
    auto const all = agree(ranks_, TrainCall::calls, [&](Words& words) {
        words[0] = f() ? 1 : 0;
        words[1] = std::bit_cast<std::int64_t>(epochs_->value());
        words[2] = next;
    });
    check_same_word(all, 1, " has another value of the metric of options.stop than ");
    agreed_ = next != 0 && std::ranges::all_of(all, [&](Words const& words) { return words[2] == next; });
    return std::ranges::all_of(all, [](Words const& words) { return words[0] == 1; });
}

ROWAN_CALLED_FUNCTION void TrainLoop::step(std::span<Feeds const> parts, std::span<Feeds const> next) {
    reads_ = false;
    AnyTrainer::StepAhead const ahead{next, agreed_};
    double const value = trainer_->step(parts, &ahead);
    std::int64_t const rows = trainer_->rows(), number = batches_ / options_.parts.count();
    batches_ += static_cast<std::int64_t>(parts.size());
    changed_ = true;
    auto const on_batch = [&] { return options_.on_batch({epoch_, number, value, rows}); };
    more_ = all_go_on(std::cref(on_batch), next.size());  // which needs no memory before ranks agree
    if (rows != 0) epochs_->count(value);
    auto const every = options_.checkpoint.every;
    if (options_.checkpoint && more_ && rows != 0 && every != 0 && trainer_->steps() % every == 0) {
        save(false);
        agreed_ = false;  // a save of the user may have failed on some ranks
    }
    reads_ = more_;
}

ROWAN_CALLED_FUNCTION void TrainLoop::take_parts() {
    if (!overlaps_) {
        step(parts_, {});
    } else {
        if (!waiting_.empty()) step(waiting_, parts_);
        waiting_ = std::move(parts_);
    }
    parts_.clear();
}

ROWAN_CALLED_FUNCTION void TrainLoop::step_last() {
    auto const last = std::exchange(waiting_, {});
    if (!last.empty() && more_) step(last, {});
}

ROWAN_CALLED_FUNCTION bool TrainLoop::take(Feeds const& feeds) {
    if (++read_ <= known_) {
        batches_ = read_;
        return true;
    }
    if (options_.parts.count() == 1 && !overlaps_) {
        step(std::span(&feeds, 1), {});
    } else {
        parts_.push_back(feeds);
        if (static_cast<std::int64_t>(parts_.size()) == options_.parts.count()) take_parts();
    }
    return more_;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void TrainLoop::read_epoch(ReadEpoch const& read, std::int64_t epoch) {
    reads_ = true;
    try {
        read(epoch, [this](Feeds const& feeds) { return take(feeds); });
        if (!parts_.empty() && more_) take_parts();
        step_last();
    } catch (...) {
        if (!reads_) throw;
        step_last();  // as on the other ranks, which have read more
        if (!more_) return;
        if (ranks_ != nullptr) {
            ranks_->at_step(trainer_->steps() + 1);
            ranks_->agree(TrainCall::step, 0, [](Words&) { throw; });
        }
        throw;
    }
    parts_.clear();
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters TrainLoop::run(ReadEpoch const& read) {
    for (; more_ && epoch_ < options_.epochs; ++epoch_) {
        if (known_ == 0) epochs_->begin();
        read_epoch(read, epoch_);
        if (!more_) break;
        agree(ranks_, TrainCall::epoch_end, [&](Words&) {  // fails if a rank has more batches
            if (read_ < known_)
                throw ShapeError({"the number of batches of epoch ", epoch_}, read_,
                                 {known_, " or more, which were read before the save"});
        });
        bool const empty = read_ == 0;
        batches_ = read_ = known_ = 0;
        changed_ = true;
        if (empty) throw ShapeError({"the number of batches of epoch ", epoch_}, "0", "at least 1");
        more_ = all_go_on([&] {
            bool const ends = options_.on_epoch || !options_.metrics.empty();  // on this rank
            return !ends || epochs_->end(epoch_, trainer_->parameters(Saving::nothing), options_.on_epoch);
        });
        if (options_.progress && (ranks_ == nullptr || ranks_->rank() == 0)) epochs_->print(epoch_);
    }
    if (options_.checkpoint && changed_) save(true);
    Parameters learned;
    agree(ranks_, TrainCall::end, [&](Words&) {
        epochs_->check_best();
        learned = epochs_->best() ? std::move(*epochs_->best()) : trainer_->parameters(Saving::alone);
    });
    return learned;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters run_training(Variable& cost, CostType const& type, DeviceExec const& exec,
                                                         Ranks const* ranks, MakeSettings const& settings,
                                                         ReadEpoch const& read) {
    auto const options = before_agreement(ranks, TrainCall::train, settings);
    return TrainLoop(cost, type, exec, options).run(read);
}

}  // namespace rowan::inline v0::detail

#endif
