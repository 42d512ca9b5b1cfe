// rowan/train/detail/train_loop.hpp: TrainLoop, the epochs and steps of train.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/train/detail/epochs.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/detail/train_position.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/train_options.hpp>
#include <rowan/train/trainer.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// What train does with any reader. `options` must outlive it.
template <class T, class Device>
class TrainLoop {
public:
    /// Calls take(feeds) for the batches of an epoch until it returns false.
    using Read = std::function<void(std::int64_t& epoch, std::function<bool(Feeds const&)> const& take)>;

    TrainLoop(layer::Var<T, Device> const& cost, TrainOptionsOn<Device> const& options);
    Parameters run(Read const& read);

private:
    using Words = Ranks::Words;

    void read_epoch(Read const& read, std::int64_t epoch);
    bool take(Feeds const& feeds);
    /// Makes a step of parts_, or, with options.overlap, the one before, for which these are the next.
    void take_parts();
    void step(std::span<Feeds const> parts, std::span<Feeds const> next);
    void step_last();
    /// Whether all ranks go on, where each calls f, which returns whether it does. Sets agreed_.
    bool all_go_on(std::function<bool()> const& f, std::size_t next_parts = 0);
    /// Makes the trainer, from the last save of options.checkpoint if there is one.
    void go_on(layer::Var<T, Device> const& cost);
    void save();

    Variable& cost_;
    TrainOptionsOn<Device> const& options_;
    Ranks const* ranks_;
    Patience patience_;
    std::optional<ScopeUse> use_;
    std::optional<Epochs> epochs_;
    std::optional<Trainer<T, Device>> trainer_;
    bool overlaps_;
    std::vector<Feeds> parts_, waiting_;    // of the next step, and with options.overlap of the one before
    bool agreed_ = false;                   // whether all ranks make the next step, of as many parts
    std::int64_t epoch_ = 0, batches_ = 0;  // which epoch, and of how many of its batches steps have been made
    std::int64_t read_ = 0, known_ = 0;     // how many have been read, of these before the last save
    bool changed_ = false;                  // since the last save was loaded
    bool more_ = true;
    bool reads_ = false;  // whether an error is one of the reader, of which other ranks do not know
};

template <class T, class Device>
TrainLoop<T, Device>::TrainLoop(layer::Var<T, Device> const& cost, TrainOptionsOn<Device> const& options)
    : cost_(*cost), options_(options), ranks_(options.comm.ranks()), patience_(ranks_, options.patience),
      overlaps_(options.overlap && ranks_ != nullptr) {
    agree_on(ranks_, TrainCall::train, [&](NamedValues& same) {
        patience_.check();
        if (options.epochs < 0) throw ValueError("epochs", options.epochs, "0 or more");
        use_.emplace(cost->scope());
        epochs_.emplace(options.metrics, options.stop);
        same.add("options.epochs", options.epochs);
        if (options.stop) add_fields(same, "options.stop.", *options.stop);
        if (!options.checkpoint) return;
        check_checkpoint(options.checkpoint, ranks_ == nullptr ? 1 : ranks_->size());
        same.add("options.checkpoint.every", options.checkpoint.every);
    });
    options.checkpoint ? go_on(cost) : static_cast<void>(trainer_.emplace(cost, options));
}

template <class T, class Device>
void TrainLoop<T, Device>::go_on(layer::Var<T, Device> const& cost) {
    auto saved = options_.checkpoint.load(cost_);
    std::optional<TrainOptionsOn<Device>> from_save;
    auto const all = agree(ranks_, TrainCall::go_on, [&](Words& words) {
        words[0] = saved ? 1 : 0;
        if (!saved) return;
        TrainPosition at = TrainPosition::taken_from(*saved);
        words[1] = epoch_ = at.epoch;
        words[2] = known_ = at.batches;
        epochs_->begin(std::move(at));
        more_ = !epochs_->ended();
        from_save.emplace(options_);
        from_save->initial = {};
        from_save->resume = &*saved;
    });
    for (std::size_t word = 0; word < 3; ++word) check_same_word(all, word, " goes on from another save than ");
    trainer_.emplace(cost, from_save ? *from_save : options_);
}

template <class T, class Device>
void TrainLoop<T, Device>::save() {
    Parameters all;
    agree(ranks_, TrainCall::save,
          [&](Words&) { all = epochs_->position(epoch_, batches_).added_to(trainer_->parameters()); });
    options_.checkpoint.save(cost_, all);
}

template <class T, class Device>
bool TrainLoop<T, Device>::all_go_on(std::function<bool()> const& f, std::size_t next_parts) {
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

template <class T, class Device>
void TrainLoop<T, Device>::step(std::span<Feeds const> parts, std::span<Feeds const> next) {
    reads_ = false;
    typename Trainer<T, Device>::StepAhead const ahead{next, agreed_};
    double const value = trainer_->step(parts, &ahead);
    std::int64_t const rows = trainer_->rows_, number = batches_ / options_.parts.count();
    batches_ += static_cast<std::int64_t>(parts.size());
    changed_ = true;
    more_ = all_go_on([&] { return options_.on_batch({epoch_, number, value, rows}); }, next.size());
    if (rows != 0) epochs_->count(value);
    auto const every = options_.checkpoint.every;
    if (options_.checkpoint && more_ && rows != 0 && every != 0 && trainer_->steps() % every == 0) {
        save();
        agreed_ = false;  // a save of the user may have failed on some ranks
    }
    reads_ = more_;
}

template <class T, class Device>
void TrainLoop<T, Device>::take_parts() {
    if (!overlaps_) {
        step(parts_, {});
    } else {
        if (!waiting_.empty()) step(waiting_, parts_);
        waiting_ = std::move(parts_);
    }
    parts_.clear();
}

template <class T, class Device>
void TrainLoop<T, Device>::step_last() {
    auto const last = std::exchange(waiting_, {});
    if (!last.empty() && more_) step(last, {});
}

template <class T, class Device>
bool TrainLoop<T, Device>::take(Feeds const& feeds) {
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

template <class T, class Device>
void TrainLoop<T, Device>::read_epoch(Read const& read, std::int64_t epoch) {
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

template <class T, class Device>
Parameters TrainLoop<T, Device>::run(Read const& read) {
    for (; more_ && epoch_ < options_.epochs; ++epoch_) {
        if (known_ == 0) epochs_->begin();
        read_epoch(read, epoch_);
        if (!more_) break;
        agree(ranks_, TrainCall::epoch_end, [&](Words&) {  // fails if a rank has more batches
            if (read_ < known_)
                throw ShapeError(std::string("the number of batches of epoch ").append(std::to_string(epoch_)),
                                 std::to_string(read_),
                                 std::to_string(known_).append(" or more, which were read before the save"));
        });
        bool const empty = read_ == 0;
        batches_ = read_ = known_ = 0;
        changed_ = true;
        if (empty)
            throw ShapeError(std::string("the number of batches of epoch ").append(std::to_string(epoch_)), "0",
                             "at least 1");
        more_ = all_go_on([&] {
            bool const ends = options_.on_epoch || !options_.metrics.empty();  // on this rank
            return !ends || epochs_->end(epoch_, trainer_->parameters(), options_.on_epoch);
        });
        if (options_.progress && (ranks_ == nullptr || ranks_->rank() == 0)) epochs_->print(epoch_);
    }
    if (options_.checkpoint && changed_) save();
    Parameters learned;
    agree(ranks_, TrainCall::end, [&](Words&) {
        epochs_->check_best();
        learned = epochs_->best() ? std::move(*epochs_->best()) : trainer_->parameters();
    });
    return learned;
}

ROWAN_TEMPLATE(class TrainLoop<float, Cpu>)
ROWAN_TEMPLATE(class TrainLoop<double, Cpu>)

}  // namespace rowan::inline v0::detail
