// rowan/train/trainer.hpp: Trainer, trains the parameters of a net batch by batch.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/owner.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/train/detail/cost_type.hpp>
#include <rowan/train/feeds.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/train_options.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

/// What a Trainer holds: an AnyTrainer.
struct HeldTrainer;
ROWAN_IF_CALLED void destroy(HeldTrainer* trainer) noexcept;
/// What `exec` refers to must outlive the trainer.
ROWAN_IF_CALLED Owner<HeldTrainer> make_trainer(Variable& cost, CostType const& type, DeviceExec const& exec,
                                                Ranks const* ranks, MakeSettings const& settings);
ROWAN_IF_CALLED double make_step(HeldTrainer& trainer, std::span<Feeds const> batches);
ROWAN_IF_CALLED Parameters parameters_of(HeldTrainer const& trainer);
ROWAN_IF_CALLED std::int64_t steps_of(HeldTrainer const& trainer) noexcept;

}  // namespace detail

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
    ///          - GraphError for what tables by keys (layer::Keyed) or in files (layer::InFile) do not have, or if another
    ///            trainer has one; IoError, FormatError, TypeError or ShapeError of a file
    ///          - with options.comm, those of layer::Comm
    /// cost     one pass over the net, and one write of each parameter and state
    explicit Trainer(layer::Var<T, Device> const& cost,
                     TrainOptionsOn<std::type_identity_t<Device>> const& options = {})
        : exec_(options.exec), trainer_(detail::make_trainer(*cost, detail::cost_type<T, Device>(), exec_,
                                                             options.comm.ranks(), detail::MakeSettings(options))) {}
    Trainer(Trainer const&) = delete;
    Trainer& operator=(Trainer const&) = delete;
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
    ///          of the operators; IndexError for more keys than a table's capacity, ValueError for a time before that of
    ///          the step before, IoError of a table in a file; Error if another call of step is running; GraphError if
    ///          another thread runs or trains a net of this scope. On error, all parameters have the values from before; but
    ///          errors of the comparison by options.check_every, and of layer::Eviction::report, come after the step, which
    ///          steps() counts
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
    double step(std::span<Feeds const> batches) { return detail::make_step(*trainer_, batches); }

    /// Returns copies of parameters and optimizer states, complete when the call returns. Rows that have missed steps of
    /// a deferred optimizer are brought up to date first, in the scope's values, which are behind between steps. A table in
    /// a file is saved there, and referred to.
    /// errors   std::bad_alloc; IoError of a table in a file
    /// cost     one read and one write of all of them, and the missed steps
    Parameters parameters() const { return detail::parameters_of(*trainer_); }

    /// The number of steps, resumed ones included.
    std::int64_t steps() const noexcept { return detail::steps_of(*trainer_); }

private:
    Device exec_;
    detail::Owner<detail::HeldTrainer> trainer_;
};

}  // namespace rowan::inline v0

#include <rowan/train/trainer_inl.hpp>
