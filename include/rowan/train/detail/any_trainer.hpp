// rowan/train/detail/any_trainer.hpp: AnyTrainer, a Trainer of a net with any types on any device.
#pragma once

#include <rowan/core/memory_pool.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/train/detail/cost_type.hpp>
#include <rowan/train/detail/deferred_tables.hpp>
#include <rowan/train/detail/loss_rows.hpp>
#include <rowan/train/detail/parameter_updates.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/detail/table_lookups.hpp>
#include <rowan/train/detail/train_settings.hpp>
#include <rowan/train/detail/trained_tables.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/schedule.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

struct FetchedGradients;
struct TrainerParts;

/// Trainer documents what it does, and rowan/train/step.md how.
class AnyTrainer {
public:
    /// What `train` knows when it makes a step: the batches of the next one, or none; and whether all ranks make this one,
    /// of as many batches.
    struct StepAhead {
        std::span<Feeds const> next;
        bool agreed;
    };

    ROWAN_IF_CALLED AnyTrainer(Variable& cost, CostType const& type, DeviceExec const& exec,
                               TrainSettings const& options);
    AnyTrainer(AnyTrainer const&) = delete;
    AnyTrainer& operator=(AnyTrainer const&) = delete;
    ROWAN_IF_CALLED double step(std::span<Feeds const> batches, StepAhead const* ahead);
    /// With Saving::with_others rows of tables in files may have missed steps, which the result tells.
    ROWAN_IF_CALLED Parameters parameters(Saving saving) const;
    /// All that was made with Saving::with_others is saved.
    void saved_others() const {
        if (trained_ != nullptr) trained_->saved_others();
    }
    /// Brings all rows up to date.
    ROWAN_IF_CALLED void flush(bool files = true) const;
    std::int64_t steps() const noexcept { return steps_; }
    /// Those of the losses of the last step.
    std::int64_t rows() const noexcept { return rows_; }

private:
    friend class TrainerStep;
    friend struct PartsFunctions;

    ROWAN_IF_CALLED std::vector<Variable*> variables() const;
    /// Compares the parameters and states of all ranks, except of tables whose rows differ between ranks.
    ROWAN_IF_CALLED void check_ranks() const;

    /// Returns a copy, on the net's device, of a value on any device.
    ROWAN_IF_CALLED Value own_copy(Variable const& v, Value const& value) const;

    /// Brings all rows up to date of the variables whose updates another trainer defers.
    ROWAN_IF_CALLED void catch_up_others(std::span<Variable* const> read) const;

    /// That of the schedule for the next step.
    ROWAN_IF_CALLED double factor() const;
    /// Sets the optimizers' step number and learning rates for the next step. Returns the schedule's factor.
    ROWAN_IF_CALLED double prepare();

    /// The seed of the k-th random operator for a part of this step; it differs from the seeds for initialization.
    ROWAN_IF_CALLED std::int64_t seed_of(std::size_t k, std::int64_t part) const;

    /// Runs the net on a part, which sets results_, and returns the cost.
    ROWAN_IF_CALLED double run(Feeds const& feeds, std::int64_t part,
                               std::function<void(Operator const&)> const& after = {});
    /// A step of one batch, without options.parts: calls enter() and returns the cost.
    ROWAN_IF_CALLED double run_batch(std::span<Feeds const> batches, std::function<void()> const& enter);
    /// The results of the only part are those of the step.
    ROWAN_IF_CALLED void keep_part();

    // With several parts or ranks: see trainer_parts_inl.hpp.
    ROWAN_IF_CALLED void build_parts(TrainSettings const& options, std::vector<Variable*>& outputs);
    ROWAN_IF_CALLED double run_parts(std::span<Feeds const> batches, StepAhead const* ahead,
                                     std::function<void()> const& enter);
    /// Adds what ranks must have the same.
    ROWAN_IF_CALLED void tell_ranks(NamedValues& to, TrainSettings const& options) const;
    ROWAN_IF_CALLED void begin_ranks();
    ROWAN_IF_CALLED void end_ranks();
    /// After how many operators of the net results_ are computed, with what they are weighed by.
    ROWAN_IF_CALLED std::vector<std::size_t> ready() const;
    /// The parts of a step that this rank runs.
    PartRange parts_of(std::span<Feeds const> batches) const {
        auto const total = static_cast<std::int64_t>(batches.size());
        // All ranks run the only part of a step, so that it has the bits of a step without parts.
        if (ranks_ == nullptr || total == 1) return {0, total, total};
        return PartRange::of_rank(total, ranks_->rank(), ranks_->size());
    }
    /// The rows of sharded tables that this rank's parts name.
    ROWAN_IF_CALLED std::vector<std::vector<std::int64_t>> rows_of(std::span<Feeds const> batches) const;
    ROWAN_IF_CALLED std::unique_ptr<FetchedTables> fetch(std::span<Feeds const> batches,
                                                         std::function<void()> const& begin) const;
    ROWAN_IF_CALLED std::vector<Value const*> tables() const;
    ROWAN_IF_CALLED void begin_rest(FetchedTables& fetched) const;
    /// Begins to fetch those of the next step, while this one runs with rows `now` in place of the tables, which are
    /// `tables`.
    ROWAN_IF_CALLED std::unique_ptr<FetchedTables> fetch_ahead(std::span<Feeds const> next,
                                                               std::span<Value const> tables,
                                                               FetchedTables const& now) const;
    /// Of a part that has been run: its cost, the rows of its losses, its weights and those of moving_.
    ROWAN_IF_CALLED std::vector<double> numbers_of_part(double cost) const;
    ROWAN_IF_CALLED std::size_t count_of_numbers() const;
    /// What results_ are multiplied by, from these numbers.
    ROWAN_IF_CALLED std::vector<std::optional<double>> weights_of(std::span<double const> numbers) const;
    ROWAN_IF_CALLED double add_up(std::vector<double> const& all, FetchedGradients& fetched);

    /// errors   GraphError if a name is not that of a parameter
    template <class Named>
    void check_parameters(Named const& given, char const* what, bool may_move = false) const;
    ROWAN_IF_CALLED void build(TrainSettings const& options);
    ROWAN_IF_CALLED void begin(Parameters const* resume, Feeds const* initial);

    /// A variable that takes the value of another one after each step, such as a moving mean.
    struct Moving {
        Variable *now, *next;
        Operator const* writer;
        bool changes = true;  // in this step: whether there are rows of which it is a mean
    };

    Variable& cost_;
    std::optional<MemoryPool> pool_;
    std::optional<Scope> own_;
    WithdrawnScope withdrawn_{nullptr};  // it, from the net, when the trainer ends
    layer::Schedule schedule_;
    std::shared_ptr<Ranks const> ranks_;
    Patience patience_;
    CostType type_;
    DeviceExec exec_;
    std::optional<NetOrder> net_;
    std::vector<Variable*> parameters_, seeds_;
    std::shared_ptr<TrainedTables> trained_;  // tables by keys and in files, or null
    std::vector<Moving> moving_;
    std::vector<TableLookups> tables_;                                 // sharded ones, if there are ranks
    std::vector<Variable*> sharded_;                                   // the same
    std::vector<std::pair<std::size_t, std::size_t>> with_gradients_;  // numbers in sharded_ and in results_
    std::unique_ptr<FetchedTables> ahead_;                             // their rows for the next step
    std::vector<Variable*> results_;  // of a part: gradients, then what variables are next
    std::vector<Variable*> totals_;   // the same of a step, of one part perhaps the same variables
    std::vector<Variable*> passing_;  // what a step empties when it ends
    std::optional<ParameterUpdates> updates_;
    std::unique_ptr<DeferredTables> deferred_;  // nullptr if no optimizer is deferred
    std::int64_t parts_;                        // the most batches of a step
    std::int64_t check_every_;                  // steps; 0: never
    bool overlap_;
    std::optional<LossRows> losses_;             // of a part
    std::int64_t rows_ = 0;                      // of the losses of all parts of a step: 0 if it changes nothing
    PartsFunctions const* functions_ = nullptr;  // with several parts or ranks
    std::shared_ptr<TrainerParts> parted_;       // the same
    std::int64_t steps_ = 0;
    std::uint64_t seed_;
    std::int64_t number_ = 0;             // with ranks, the same on all, and of no other trainer
    std::optional<double> first_factor_;  // of the first step, so that the schedule is called once for each step
    std::atomic_flag running_;
};

/// What an AnyTrainer does with several parts or ranks. Programs without options.parts do not compile it.
struct PartsFunctions {
    void (AnyTrainer::*build)(TrainSettings const& options, std::vector<Variable*>& outputs);
    double (AnyTrainer::*run)(std::span<Feeds const> batches, AnyTrainer::StepAhead const* ahead,
                              std::function<void()> const& enter);
    void (AnyTrainer::*tell_ranks)(NamedValues& to, TrainSettings const& options) const;
    void (AnyTrainer::*begin_ranks)();
    void (AnyTrainer::*end_ranks)();

    ROWAN_IF_CALLED static PartsFunctions make();
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/trainer_build_inl.hpp>
#include <rowan/train/detail/trainer_parts_inl.hpp>
#include <rowan/train/detail/trainer_run_inl.hpp>
