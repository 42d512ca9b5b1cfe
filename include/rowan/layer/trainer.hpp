// rowan/layer/trainer.hpp: Trainer, trains the parameters of a net batch by batch.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/detail/feed.hpp>
#include <rowan/layer/detail/parameter_updates.hpp>
#include <rowan/layer/detail/passing_scope.hpp>
#include <rowan/layer/feeds.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/train_options.hpp>
#include <rowan/layer/var.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

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
    /// on_batch and on_epoch, which are `train`'s.
    /// shapes   cost [1]
    /// errors   GraphError if cost does not depend on a parameter, an operator between them has no gradient, the net
    ///          has a cycle, options.optimizers or options.rates contains a name that is not a parameter, a schedule or
    ///          a rate is given for an optimizer without a learning rate, options.resume lacks a parameter, or
    ///          options.initial has a name that is not a parameter; Error if both are given; TypeError if the optimizer
    ///          or options.clip does not support the element type of a parameter or its gradient; TypeError or
    ///          ShapeError if a value in options.resume or options.initial does not fit its variable; ValueError if the
    ///          schedule's factor or a rate is not finite, or an optimizer rejects an option; GraphError if another
    ///          thread runs or trains a net of this scope. On error, no variable has changed
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

    /// Trains on one batch and returns its cost. With options.parts, it only adds the gradients of the batch to those of
    /// the batches before, unless the batch completes a step. Either all parameters change or none: everything that an
    /// optimizer may reject is checked before the first one runs. On a device, it synchronizes once, to read the cost;
    /// bad ids are reported then.
    /// errors   GraphError if the batch lacks a variable or contains a name that no layer::data declared; TypeError or
    ///          ShapeError if the element type, rank, a dim or the number of levels of a value differs from the
    ///          variable's; ShapeError if the batch has no rows or the cost is not one number; ValueError if the cost
    ///          or the schedule's factor is not finite, or an optimizer rejects an option; those of the operators;
    ///          Error if another call of step is running; GraphError if another thread runs or trains a net of this
    ///          scope. On error, all parameters have the values from before, and the batch is not part of a step
    /// cost     that of the operators, of their gradients and of the optimizers; with options.parts = n, log2 n sums of
    ///          gradients in memory, n - 1 additions in each step, and merges of row-sparse gradients
    double step(Feeds const& feeds);

    /// Makes a step of the batches since the last one, if there are any. `train` calls it at the end of each epoch.
    /// errors   those of step, after the run of the net
    /// cost     that of the optimizers
    void finish_step();

    /// Returns copies of parameters and optimizer states, complete when the call returns. Batches that have not made a
    /// step yet are not part of it.
    /// errors   std::bad_alloc
    /// cost     one read and one write of all of them
    Parameters parameters() const;

    std::int64_t steps() const noexcept { return steps_; }  ///< number of steps, resumed ones included

private:
    std::vector<Variable*> variables() const;

    /// Returns a copy, on the net's device, of a value on any device.
    Value own_copy(Variable const& v, Value const& value) const;

    double factor() const { return schedule_ ? schedule_(steps_) : 1.0; }

    /// Sets the optimizers' step number and learning rates for the next step.
    void prepare();

    /// The seed of the k-th random operator for this batch; it differs from the seeds for initialization.
    LoDTensor<std::int64_t, Device> seed_of(std::size_t k) const;

    /// errors   GraphError if there is no parameter of this name
    void check_parameter(std::string const& name, char const* what, bool may_move = false) const;
    void begin(Parameters const* resume, Feeds const& initial);

    /// A variable that takes the value of another one after each step, such as a moving mean.
    struct Moving {
        Variable *now, *next;
    };

    Variable& cost_;
    MemoryPool pool_;
    detail::PassingScope own_;
    layer::Schedule schedule_;
    Device exec_;
    Net<Device> net_;
    std::vector<Variable*> parameters_, seeds_;
    std::vector<Moving> moving_;
    detail::ParameterUpdates<Device> updates_;
    std::int64_t steps_ = 0;
    std::uint64_t seed_;
    std::optional<double> first_factor_;  // of the first step, so that the schedule is called once for each step
    std::atomic_flag running_;
};

template <class T, class Device>
Trainer<T, Device>::Trainer(layer::Var<T, Device> const& cost,
                            TrainOptionsOn<std::type_identity_t<Device>> const& options)
    : cost_(*cost), own_(cost_.scope()), schedule_(options.schedule), exec_(options.exec), seed_(options.seed) {
    detail::ScopeUse const use(cost_.scope());
    static_cast<void>(Net<Device>::trace_and_build(cost_));  // names the variables; names of states begin with these
    auto gradients = append_backward<T, Device>(cost_, *own_);
    for (auto const& g : gradients) parameters_.push_back(g.parameter);
    for (auto const& other : options.optimizers) check_parameter(other.first, "for the optimizer that names it");
    for (auto const& rate : options.rates) check_parameter(rate.first, "for the rate of that name");
    updates_.add_gradients(*own_, std::move(gradients), options);
    std::vector<Variable*> outputs{&cost_};
    outputs.insert(outputs.end(), updates_.computed().begin(), updates_.computed().end());
    for (Operator const* op : detail::trace(std::array{&cost_})) {
        detail::each_next(*op, [&](Variable& now, Variable& next) {
            moving_.push_back({&now, &next});
            outputs.push_back(&next);
        });
    }
    net_ = Net<Device>::trace_and_build(outputs);
    for (Variable* const v : net_.inputs()) {
        if (v->role() == Role::seed) seeds_.push_back(v);
    }
    updates_.add_updates(*own_, options);
    begin(options.resume, options.initial);
}

template <class T, class Device>
void Trainer<T, Device>::check_parameter(std::string const& name, char const* what, bool may_move) const {
    if (std::ranges::any_of(parameters_, [&](Variable const* v) { return v->name() == name; })) return;
    if (may_move && std::ranges::any_of(moving_, [&](Moving const& m) { return m.now->name() == name; })) return;
    throw GraphError(std::string("there is no parameter \"").append(name).append("\" ").append(what));
}

template <class T, class Device>
void Trainer<T, Device>::begin(Parameters const* resume, Feeds const& initial) {
    if (resume != nullptr && !initial.empty())
        throw Error("options.initial and options.resume are both given: what is resumed has no initial values");
    for (auto const& named : initial) check_parameter(named.first, "for the initial value of that name", true);
    steps_ = resume == nullptr ? 0 : resume->steps;
    first_factor_ = factor();
    updates_.prepare(steps_, *first_factor_);  // throws if an optimizer rejects an option or the factor is not finite
    auto const all = variables();
    std::vector<Value> given;  // empty for a variable that is initialized
    for (Variable* const v : all) {
        auto const found = initial.find(v->name());
        bool const resumed = resume != nullptr && (v->role() == Role::parameter || resume->contains(v->name()));
        given.push_back(resumed                  ? resume->find(v->name()).share()
                        : found != initial.end() ? found->second.value()
                                                 : Value());
        if (resumed || found != initial.end()) detail::check_fits(*v, given.back());
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!given[i].empty()) {
            all[i]->value() = own_copy(*all[i], given[i]);
        } else if (all[i]->initialize) {
            all[i]->initialize(all[i]->value(), detail::bits_at(seed_, i + 1), exec_);
        }
    }
}

template <class T, class Device>
double Trainer<T, Device>::step(Feeds const& feeds) {
    detail::Entered const entered(running_, "Trainer::step");
    detail::ScopeUse const use(cost_.scope());
    MemoryPool::Guard const guard(pool_);
    if (updates_.completes()) prepare();
    detail::feed(net_.inputs(), feeds, cost_.scope(), exec_);
    for (Variable const* v : net_.inputs()) {
        if (v->role() != Role::data || v->spec().type != VarType::LOD_TENSOR) continue;
        Value const& value = v->value();
        if (value.rows() == 0) throw ShapeError(v->name() + ".shape(0)", "0", "at least 1");
    }
    {
        detail::KeptValues const kept(seeds_);  // outside of this run, the seeds are empty
        for (std::size_t k = 0; k < seeds_.size(); ++k) seeds_[k]->value().set(seed_of(k));
        detail::in_order(exec_, [&] { net_.run(*own_, exec_); });
    }
    auto const& value = cost_.value().template get<LoDTensor<T, Device>>().value();
    if (value.size() != 1) throw ShapeError(cost_.name() + ".shape()", detail::shape_text(value.shape()), "[1]");
    auto const cost = static_cast<double>(dtype<T>::widen(detail::first_element(exec_, value)));
    if (!std::isfinite(cost)) throw ValueError(std::string("the cost ").append(cost_.name()), cost, "a finite number");
    if (updates_.take(*own_, exec_)) ++steps_;
    for (Moving const& m : moving_) m.now->value() = std::move(m.next->value());
    return cost;
}

template <class T, class Device>
void Trainer<T, Device>::finish_step() {
    detail::Entered const entered(running_, "Trainer::step");
    if (updates_.batches() == 0) return;
    detail::ScopeUse const use(cost_.scope());
    MemoryPool::Guard const guard(pool_);
    prepare();
    updates_.finish(*own_, exec_);
    ++steps_;
}

template <class T, class Device>
Parameters Trainer<T, Device>::parameters() const {
    Parameters result;
    result.steps = steps_;
    for (Variable* const v : variables()) result.set(v->name(), v->value().copy());
    synchronize(exec_);
    return result;
}

template <class T, class Device>
std::vector<Variable*> Trainer<T, Device>::variables() const {
    std::vector<Variable*> all = parameters_;
    updates_.append_states(all);
    for (Moving const& m : moving_) all.push_back(m.now);
    updates_.append_averages(all);
    return all;
}

template <class T, class Device>
Value Trainer<T, Device>::own_copy(Variable const& v, Value const& value) const {
    if (v.bring == nullptr) return value.copy();
    Value mine = value.share();
    v.bring(mine, exec_, true);
    return mine;
}

template <class T, class Device>
void Trainer<T, Device>::prepare() {
    auto const first = std::exchange(first_factor_, std::nullopt);
    updates_.prepare(steps_, first ? *first : factor());
}

template <class T, class Device>
LoDTensor<std::int64_t, Device> Trainer<T, Device>::seed_of(std::size_t k) const {
    std::uint64_t now = detail::bits_at(detail::bits_at(~seed_, k + 1), static_cast<std::uint64_t>(steps_ + 1));
    if (auto const batch = updates_.batches()) now = detail::bits_at(now, static_cast<std::uint64_t>(batch));
    return to_device(exec_, Tensor<std::int64_t>{static_cast<std::int64_t>(now)});
}

ROWAN_TEMPLATE(class Trainer<float, Cpu>)
ROWAN_TEMPLATE(class Trainer<double, Cpu>)

}  // namespace rowan::inline v0
