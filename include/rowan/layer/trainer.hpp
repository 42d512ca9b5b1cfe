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
#include <rowan/layer/detail/part_sums.hpp>
#include <rowan/layer/detail/passing_scope.hpp>
#include <rowan/layer/detail/rows_variable.hpp>
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
#include <span>
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

    /// Trains on one batch and returns its cost. Either all parameters change or none: everything that an optimizer may
    /// reject is checked before the first one runs. On a device, it synchronizes once, to read the cost; bad ids are
    /// reported then.
    /// errors   GraphError if the batch lacks a variable or contains a name that no layer::data declared; TypeError or
    ///          ShapeError if the element type, rank, a dim or the number of levels of a value differs from the
    ///          variable's; ShapeError if the batch has no rows or the cost is not one number; ValueError if the cost
    ///          or the schedule's factor is not finite, or an optimizer rejects an option; those of the operators;
    ///          Error if another call of step is running; GraphError if another thread runs or trains a net of this
    ///          scope. On error, all parameters have the values from before
    /// cost     that of the operators, of their gradients and of the optimizers
    double step(Feeds const& feeds) { return step(std::span(&feeds, 1)); }

    /// Makes one step of some batches, its parts, at most options.parts, and returns the mean of their costs, weighed by
    /// rows: see layer::Parts.
    ///     Trainer trainer(cost, {.optimizer = layer::Adam{}, .parts = 8});
    ///     trainer.step(batches);  // a std::vector<Feeds> of 1 to 8
    /// errors   as for one batch; ShapeError if there are no batches, or more than options.parts
    /// cost     that of the operators and their gradients for each batch, and of the optimizers once; for n batches
    ///          n - 1 additions of gradients, and merges of row-sparse ones. On a device, it synchronizes for each batch
    double step(std::span<Feeds const> batches);

    /// Returns copies of parameters and optimizer states, complete when the call returns.
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

    /// The seed of the k-th random operator for a part of this step; it differs from the seeds for initialization.
    LoDTensor<std::int64_t, Device> seed_of(std::size_t k, std::int64_t part) const;

    /// What the run of the net on a part leaves.
    struct Ran {
        double cost = 0;
        std::int64_t rows = 1;
        std::vector<Value> values = {};  // of results_
    };
    Ran run(Feeds const& feeds, std::int64_t part);
    /// The mean cost, and the means of results_.
    Ran run_parts(std::span<Feeds const> batches);

    /// errors   GraphError if there is no parameter of this name
    void check_parameter(std::string const& name, char const* what, bool may_move = false) const;
    void sum_results(layer::PartsOn<Device> const& parts);
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
    std::vector<Variable*> results_;  // what a step takes from the net: gradients, then what variables are next
    detail::ParameterUpdates<Device> updates_;
    std::int64_t parts_;        // the most batches of a step
    Variable* rows_ = nullptr;  // whose rows weigh a part
    detail::PartSums sums_;     // of results_
    std::int64_t steps_ = 0;
    std::uint64_t seed_;
    std::optional<double> first_factor_;  // of the first step, so that the schedule is called once for each step
    std::atomic_flag running_;
};

template <class T, class Device>
Trainer<T, Device>::Trainer(layer::Var<T, Device> const& cost,
                            TrainOptionsOn<std::type_identity_t<Device>> const& options)
    : cost_(*cost), own_(cost_.scope()), schedule_(options.schedule), exec_(options.exec),
      parts_(options.parts.count()), seed_(options.seed) {
    detail::ScopeUse const use(cost_.scope());
    static_cast<void>(Net<Device>::trace_and_build(cost_));  // names the variables; names of states begin with these
    auto gradients = append_backward<T, Device>(cost_, *own_);
    for (auto const& g : gradients) parameters_.push_back(g.parameter);
    for (auto const& other : options.optimizers) check_parameter(other.first, "for the optimizer that names it");
    for (auto const& rate : options.rates) check_parameter(rate.first, "for the rate of that name");
    bool const apart = parts_ > 1;
    updates_.add_gradients(*own_, std::move(gradients), options, apart);
    results_.assign(updates_.computed().begin(), updates_.computed().end());
    for (Operator const* op : detail::trace(std::array{&cost_}))
        detail::each_next(*op, [&](Variable& now, Variable& next) { moving_.push_back({&now, &next}); });
    for (Moving const& m : moving_) results_.push_back(m.next);
    if (apart) sum_results(options.parts);
    std::vector<Variable*> outputs{&cost_};
    outputs.insert(outputs.end(), results_.begin(), results_.end());
    if (apart && (rows_ = detail::rows_variable(cost_)) != nullptr) outputs.push_back(rows_);
    net_ = Net<Device>::trace_and_build(outputs);
    for (Variable* const v : net_.inputs()) {
        if (v->role() == Role::seed) seeds_.push_back(v);
    }
    updates_.add_updates(*own_, options);
    begin(options.resume, options.initial);
}

template <class T, class Device>
void Trainer<T, Device>::sum_results(layer::PartsOn<Device> const& parts) {
    std::size_t const n = parameters_.size();
    for (std::size_t i = 0; i < results_.size(); ++i) {
        Variable const& like = i < n ? *parameters_[i] : *moving_[i - n].now;
        std::string const what = std::string(i < n ? "the gradient of " : "").append(like.name());
        sums_.sum(parts.sums_of(*results_[i], what), *results_[i], like);
    }
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
    if (resume != nullptr) updates_.check_states(*resume);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!given[i].empty()) {
            all[i]->value() = own_copy(*all[i], given[i]);
        } else if (all[i]->initialize) {
            all[i]->initialize(all[i]->value(), detail::bits_at(seed_, i + 1), exec_);
        }
    }
}

template <class T, class Device>
auto Trainer<T, Device>::run(Feeds const& feeds, std::int64_t part) -> Ran {
    detail::feed(net_.inputs(), feeds, cost_.scope(), exec_);
    for (Variable const* v : net_.inputs()) {
        if (v->role() != Role::data || v->spec().type != VarType::LOD_TENSOR) continue;
        Value const& value = v->value();
        if (value.rows() == 0) throw ShapeError(v->name() + ".shape(0)", "0", "at least 1");
    }
    {
        detail::KeptValues const kept(seeds_);  // outside of this run, the seeds are empty
        for (std::size_t k = 0; k < seeds_.size(); ++k) seeds_[k]->value().set(seed_of(k, part));
        detail::in_order(exec_, [&] { net_.run(*own_, exec_); });
    }
    auto const& value = cost_.value().template get<LoDTensor<T, Device>>().value();
    if (value.size() != 1) throw ShapeError(cost_.name() + ".shape()", detail::shape_text(value.shape()), "[1]");
    Ran ran;
    ran.cost = static_cast<double>(dtype<T>::widen(detail::first_element(exec_, value)));
    if (!std::isfinite(ran.cost))
        throw ValueError(std::string("the cost ").append(cost_.name()), ran.cost, "a finite number");
    if (rows_ != nullptr) ran.rows = static_cast<std::int64_t>(rows_->value().rows());
    for (Variable* const v : results_) ran.values.push_back(std::exchange(v->value(), Value()));
    return ran;
}

template <class T, class Device>
auto Trainer<T, Device>::run_parts(std::span<Feeds const> batches) -> Ran {
    if (batches.size() == 1) return run(batches[0], 0);
    Cpu const host = detail::host_exec(exec_);
    Ran all{.rows = 0};
    sums_.begin(0);
    for (std::size_t p = 0; p < batches.size(); ++p) {
        auto const part = run(batches[p], static_cast<std::int64_t>(p));
        all.rows += part.rows;
        all.cost += static_cast<double>(part.rows) * part.cost;
        sums_.add(host, part.values, part.rows);
    }
    if (all.rows == 0) throw ShapeError(rows_->name() + ".shape(0)", "0 in all batches of a step", "at least 1");
    all.cost /= static_cast<double>(all.rows);
    all.values = sums_.means(host, exec_, all.rows);
    return all;
}

template <class T, class Device>
double Trainer<T, Device>::step(std::span<Feeds const> batches) {
    detail::Entered const entered(running_, "Trainer::step");
    if (batches.empty() || static_cast<std::int64_t>(batches.size()) > parts_)
        throw ShapeError("batches", std::to_string(batches.size()),
                         std::string("1 to options.parts = ").append(std::to_string(parts_)));
    detail::ScopeUse const use(cost_.scope());
    MemoryPool::Guard const guard(pool_);
    prepare();
    auto ran = run_parts(batches);
    std::size_t const n = updates_.computed().size();
    updates_.change(*own_, exec_, std::span(ran.values).first(n));
    ++steps_;
    for (std::size_t i = 0; i < moving_.size(); ++i) moving_[i].now->value() = std::move(ran.values[n + i]);
    return ran.cost;
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
LoDTensor<std::int64_t, Device> Trainer<T, Device>::seed_of(std::size_t k, std::int64_t part) const {
    std::uint64_t now = detail::bits_at(detail::bits_at(~seed_, k + 1), static_cast<std::uint64_t>(steps_ + 1));
    if (part != 0) now = detail::bits_at(now, static_cast<std::uint64_t>(part));
    return to_device(exec_, Tensor<std::int64_t>{static_cast<std::int64_t>(now)});
}

ROWAN_TEMPLATE(class Trainer<float, Cpu>)
ROWAN_TEMPLATE(class Trainer<double, Cpu>)

}  // namespace rowan::inline v0
