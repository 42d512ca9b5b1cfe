// rowan/train/trainer.hpp: Trainer, trains the parameters of a net batch by batch.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/train/comm.hpp>
#include <rowan/train/detail/cost_weight.hpp>
#include <rowan/train/detail/deferred_tables.hpp>
#include <rowan/train/detail/entered.hpp>
#include <rowan/train/detail/loss_rows.hpp>
#include <rowan/train/detail/parameter_updates.hpp>
#include <rowan/train/detail/part_sums.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/detail/table_lookups.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/parts.hpp>
#include <rowan/train/schedule.hpp>
#include <rowan/train/train_options.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {
template <class T, class Device>
class TrainLoop;
}

/// Minimizes the cost of a net over the parameters that it depends on: its backward pass and optimizers, which are
/// removed from the net with the trainer. `train` is a loop around it.
///     Trainer trainer(cost, {.optimizer = layer::Adam{}});
///     for (Feeds const& batch : batches) std::cout << trainer.step(batch) << '\n';
///     Parameters const learned = trainer.parameters();
/// The net must outlive the trainer. A net and its trainers are for one thread at a time.
template <class T = float, class Device = Cpu>
class Trainer {
public:
    /// Adds the backward pass and the optimizers, and sets parameters and optimizer states to their first values, to
    /// those of options.initial or to those of an earlier training. Uses all options but epochs, progress, metrics, stop,
    /// checkpoint, overlap, on_batch and on_epoch, which are `train`'s. With options.comm, all ranks call it, and `step`.
    /// shapes   cost [1] or []
    /// errors   On error no variable changes. Exception: where another rank throws, or ranks have different first
    ///          values, variables have their first values.
    ///          - GraphError if the net has a cycle, the cost does not depend on a parameter, an operator between them
    ///            has no gradient, or another thread runs or trains a net of this scope
    ///          - GraphError if options.optimizers, options.rates or options.initial has a name that is not a
    ///            parameter, or a schedule or a rate is for an optimizer without a learning rate
    ///          - GraphError if options.keep has a variable that is no result of the operators that the cost needs
    ///          - GraphError if options.resume lacks a parameter or, after steps, a state of an optimizer or an average
    ///          - GraphError if a sharded table is not looked up by layer::data, or, with options.parts above 1, the
    ///            cost is no sum or mean over rows: see layer::Parts
    ///          - Error if both options.resume and options.initial are given
    ///          - TypeError if the optimizer or options.clip does not support the element type of a parameter
    ///          - TypeError or ShapeError if a value in options.resume or options.initial does not fit its variable, or
    ///            a sharded table has the rows of another rank
    ///          - ValueError if the schedule's factor or a rate is not finite or negative, or an optimizer rejects an
    ///            option, or has one with which a cost grows: a learning rate below 0 and, of rowan's optimizers, also a
    ///            decay, l1 or l2 below 0 or a momentum outside of [0, 1]
    ///          - with options.comm, those of layer::Comm
    /// cost     one pass over the net, and one write of each parameter and state
    explicit Trainer(layer::Var<T, Device> const& cost,
                     TrainOptionsOn<std::type_identity_t<Device>> const& options = {});
    // A mistake, which does not compile.
    template <class O>
    requires(!std::convertible_to<O, TrainOptionsOn<Device>>) Trainer(layer::Var<T, Device> const& cost, O const&)
        : Trainer(cost) {
        static_assert(std::convertible_to<O, TrainOptionsOn<Device>>,
                      "rowan::Trainer: options have names: Trainer(cost, {.optimizer = layer::Adam{}})");
    }

    /// Trains on one batch and returns its cost. Either all parameters change or none: everything that an optimizer may
    /// reject is checked before the first one runs. If no loss has a row, it is no step: no parameter, state or moving
    /// statistic changes, steps() remains, and the result is 0. A loss is what the cost is made of, such as a mean over
    /// rows; other data may have no rows. On a device, it synchronizes once, to read the cost; bad ids are reported then.
    /// errors   GraphError if the batch lacks a variable or contains a name that no layer::data declared; TypeError or
    ///          ShapeError if the element type, rank, a dim or the number of levels of a value differs from the
    ///          variable's; ShapeError if the cost is not one number; ValueError if the cost
    ///          or the schedule's factor is not finite, the factor is negative, or an optimizer rejects an option; those
    ///          of the operators; Error if another call of step is running; GraphError if another thread runs or trains
    ///          a net of this scope. On error, all parameters have the values from before; but an error of the comparison by
    ///          options.check_every comes after the step, which steps() counts
    /// cost     that of the operators, of their gradients and of the optimizers
    double step(Feeds const& feeds) { return step(std::span(&feeds, 1)); }

    /// Makes one step of some batches, its parts, at most options.parts, and returns the cost of them as one batch: see
    /// layer::Parts.
    ///     Trainer trainer(cost, {.optimizer = layer::Adam{}, .parts = 8});
    ///     trainer.step(batches);  // a std::vector<Feeds> of 1 to 8
    /// errors   those of step of one batch; ShapeError if there are no batches, or more than options.parts; ValueError
    ///          if the cost adds means whose divisors are not in the same proportion in all parts
    /// cost     that of the operators and their gradients for each batch, and of the optimizers once; for n batches
    ///          n - 1 additions of gradients, and merges of row-sparse ones. On a device, it synchronizes for each batch
    double step(std::span<Feeds const> batches) { return step(batches, nullptr); }

    /// Returns copies of parameters and optimizer states, complete when the call returns. Rows that have missed steps of
    /// a deferred optimizer are brought up to date first, in the scope's values, which are behind between steps.
    /// errors   std::bad_alloc
    /// cost     one read and one write of all of them, and the missed steps
    Parameters parameters() const;

    std::int64_t steps() const noexcept { return steps_; }  ///< number of steps, resumed ones included

private:
    friend class detail::TrainLoop<T, Device>;

    /// What `train` knows when it makes a step: the batches of the next one, or none; and whether all ranks make this one,
    /// of as many batches.
    struct StepAhead {
        std::span<Feeds const> next;
        bool agreed;
    };
    double step(std::span<Feeds const> batches, StepAhead const* ahead);
    class Step;

    std::vector<Variable*> variables() const;
    /// Compares the parameters and states of all ranks, except of tables whose rows differ between ranks.
    void check_ranks() const;

    /// Returns a copy, on the net's device, of a value on any device.
    Value own_copy(Variable const& v, Value const& value) const;

    double factor() const { return schedule_ ? schedule_(steps_) : 1.0; }

    /// Sets the optimizers' step number and learning rates for the next step. Returns the schedule's factor.
    double prepare();

    /// The seed of the k-th random operator for a part of this step; it differs from the seeds for initialization.
    LoDTensor<std::int64_t, Device> seed_of(std::size_t k, std::int64_t part) const;

    /// Runs the net on a part, which sets results_, and returns the cost.
    double run(Feeds const& feeds, std::int64_t part, std::function<void(Operator const&)> const& after = {});
    /// After how many operators of the net results_ are computed, with what they are weighed by.
    std::vector<std::size_t> ready() const;
    /// The parts of a step that this rank runs.
    detail::PartRange parts_of(std::span<Feeds const> batches) const {
        auto const total = static_cast<std::int64_t>(batches.size());
        // All ranks run the only part of a step, so that it has the bits of a step without parts.
        if (comm_.ranks() == nullptr || total == 1) return {0, total, total};
        return detail::PartRange::of_rank(total, comm_.ranks()->rank(), comm_.ranks()->size());
    }
    /// The rows of sharded tables that this rank's parts name.
    std::vector<std::vector<std::int64_t>> rows_of(std::span<Feeds const> batches) const;
    std::unique_ptr<detail::FetchedTables> fetch(std::span<Feeds const> batches,
                                                 std::function<void()> const& begin) const;
    std::vector<Value const*> tables() const;
    void begin_rest(detail::FetchedTables& fetched) const;
    /// Begins to fetch those of the next step, while this one runs with rows `now` in place of the tables, which are
    /// `tables`.
    std::unique_ptr<detail::FetchedTables> fetch_ahead(std::span<Feeds const> next, std::span<Value const> tables,
                                                       detail::FetchedTables const& now) const;
    /// Of a part that has been run: its cost, the rows of its losses, its weights and those of moving_.
    std::vector<double> numbers_of_part(double cost) const;
    std::size_t count_of_numbers() const { return 2 + weight_->size() + moving_.size(); }
    /// What results_ are multiplied by, from these numbers.
    detail::PartSums::Weights weights_of(std::span<double const> numbers) const;
    double add_up(std::vector<double> const& all, detail::FetchedGradients& fetched);

    /// errors   GraphError if a name is not that of a parameter
    template <class Named>
    void check_parameters(Named const& given, char const* what, bool may_move = false) const;
    void build(TrainOptionsOn<Device> const& options);
    void begin(Parameters const* resume, Feeds const& initial);

    /// A variable that takes the value of another one after each step, such as a moving mean.
    struct Moving {
        Variable *now, *next;
        std::optional<detail::Counted> rows;  // of which it is a mean
        bool changes = true;                  // in this step: whether there are such rows
    };

    Variable& cost_;
    std::optional<MemoryPool> pool_;
    std::optional<Scope> own_;
    detail::WithdrawnScope withdrawn_{nullptr};  // it, from the net, when the trainer ends
    layer::Schedule schedule_;
    layer::CommOn<Device> comm_;
    detail::Patience patience_;
    Device exec_;
    std::optional<Net<Device>> net_;
    std::vector<Variable*> parameters_, seeds_;
    std::vector<Moving> moving_;
    std::vector<detail::TableLookups> tables_;                         // sharded ones, if there are ranks
    std::vector<Variable*> sharded_;                                   // the same
    std::vector<std::pair<std::size_t, std::size_t>> with_gradients_;  // numbers in sharded_ and in results_
    std::unique_ptr<detail::FetchedTables> ahead_;                     // their rows for the next step
    std::vector<Variable*> results_;  // of a part: gradients, then what variables are next
    std::vector<Variable*> totals_;   // the same of a step, of one part perhaps the same variables
    std::vector<Variable*> passing_;  // what a step empties when it ends
    std::optional<detail::ParameterUpdates<Device>> updates_;
    detail::DeferredTables deferred_;
    std::int64_t parts_;        // the most batches of a step
    std::int64_t check_every_;  // steps; 0: never
    bool overlap_;
    std::optional<detail::LossRows> losses_;    // of a part
    std::int64_t rows_ = 0;                     // of the losses of all parts of a step: 0 if it changes nothing
    std::optional<detail::CostWeight> weight_;  // of a part
    std::vector<Variable*> counted_;            // what weights depend on and the net computes: emptied after each part
    detail::PartSums sums_;                     // of results_
    std::int64_t steps_ = 0;
    std::uint64_t seed_;
    std::int64_t number_ = 0;             // with ranks, the same on all, and of no other trainer
    std::optional<double> first_factor_;  // of the first step, so that the schedule is called once for each step
    std::atomic_flag running_;
};

}  // namespace rowan::inline v0

#include <rowan/train/detail/trainer_run.hpp>
