// rowan/layer/detail/trainer.hpp: Trainer, runs a net on batches, and what train and infer have in common.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/detail/random.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/layer/detail/check_fits.hpp>
#include <rowan/layer/feeds.hpp>
#include <rowan/layer/gradient_clip.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/layer/parameters.hpp>
#include <rowan/layer/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Sets the data variables of a net to the values of a batch. The batch may contain variables that only another net of
/// the scope reads, such as labels for the cost; a name that is not declared is an error. Values that are not on the
/// net's device are copied to it.
/// errors   GraphError if the batch lacks a variable, or contains a name that neither the net nor the scope declares;
///          else as check_fits. On error, no variable has changed
template <class Device>
void feed(std::span<Variable* const> inputs, Feeds const& feeds, Scope const& scope, Device const& exec) {
    std::map<Variable*, Value> values;
    for (Variable* const v : inputs) {
        if (v->role() != Role::data) continue;
        auto const found = feeds.find(v->name());
        if (found == feeds.end())
            throw GraphError(std::string("the batch has no value for the variable \"").append(v->name()).append("\""));
        Value value = found->second.value();
        check_fits(*v, value);
        values.emplace(v, std::move(value));
    }
    for (auto const& named : feeds) {
        std::string const& name = named.first;
        if (std::ranges::any_of(values, [&](auto const& known) { return known.first->name() == name; })) continue;
        Variable const* const declared = scope.find(name);
        if (declared == nullptr || declared->role() != Role::data)
            throw GraphError(std::string("the batch has a value for \"")
                                 .append(name)
                                 .append("\", but there is no data variable of that name"));
    }
    for (auto& [v, value] : values) {
        if (v->bring != nullptr) v->bring(value, exec, false);
    }
    for (auto& [v, value] : values) v->value() = std::move(value);
}

/// Moves the values out of variables and restores them on destruction.
class KeptValues {
public:
    /// `variables` must outlive this.
    explicit KeptValues(std::span<Variable* const> variables) : variables_(variables) {
        values_.reserve(variables_.size());  // so that the loop does not throw
        for (Variable* const v : variables_) values_.push_back(std::exchange(v->value(), Value()));
    }
    KeptValues(KeptValues const&) = delete;
    KeptValues& operator=(KeptValues const&) = delete;
    ~KeptValues() {
        for (std::size_t i = 0; i < variables_.size(); ++i) variables_[i]->value() = std::move(values_[i]);
    }

private:
    std::span<Variable* const> variables_;
    Buffer<Value> values_;
};

/// An inner scope that, on destruction, removes its operators from the readers of outer variables.
class PassingScope {
public:
    explicit PassingScope(Scope& parent) : scope_(parent) {}
    PassingScope(PassingScope const&) = delete;
    PassingScope& operator=(PassingScope const&) = delete;
    ~PassingScope() { scope_.forget_readers(); }

    Scope& operator*() noexcept { return scope_; }

private:
    Scope scope_;
};

/// A net with its backward pass and the operators of its optimizers, which are removed with the trainer.
template <class T, class Device>
class Trainer {
public:
    /// errors   GraphError if `others` contains a name that is not a parameter of the net, or a schedule is given for
    ///          an optimizer without a learning rate
    Trainer(Variable& cost, layer::OptimizerOn<Device> const& optimizer,
            std::map<std::string, layer::OptimizerOn<Device>> const& others = {},
            layer::GradientClipOn<Device> const& clip = {}, layer::Schedule schedule = {});

    /// Initializes parameters and optimizer states, or sets them to the values of an earlier training.
    /// errors   ValueError if an optimizer rejects an option or the schedule's factor is not finite; GraphError or as
    ///          check_fits if the earlier training was of another net. On error, no variable has changed
    void begin(std::uint64_t seed, Parameters const* resume, Device exec = {});

    /// Trains on one batch and returns its cost. Either all parameters change or none: everything that an optimizer may
    /// reject is checked before the first one runs.
    double step(Feeds const& feeds, Device exec);

    /// Returns copies of parameters and states, complete when the call returns.
    Parameters parameters(Device exec = {}) const;

private:
    std::vector<Variable*> variables() const;

    /// Returns a copy, on the net's device, of a value on any device.
    static Value own_copy(Variable const& v, Value const& value, Device const& exec);

    double factor() const { return schedule_ ? schedule_(steps_) : 1.0; }

    /// Sets the optimizers' step number and learning rates for the next step.
    void prepare(double factor);

    /// The seed of the k-th random operator for this step; it differs from the seeds for initialization.
    LoDTensor<std::int64_t, Device> seed_of(std::size_t k, Device const& exec) const;

    Variable& cost_;
    MemoryPool pool_;
    PassingScope own_;
    layer::Schedule schedule_;
    Net<Device> net_, changes_;
    std::vector<Variable*> parameters_, seeds_;
    std::vector<typename layer::OptimizerOn<Device>::Update> updates_;
    std::int64_t steps_ = 0;
    std::uint64_t seed_ = 0;
    std::optional<double> first_factor_;  // of the step after begin, so that the schedule is called once for each step
};

template <class T, class Device>
Trainer<T, Device>::Trainer(Variable& cost, layer::OptimizerOn<Device> const& optimizer,
                            std::map<std::string, layer::OptimizerOn<Device>> const& others,
                            layer::GradientClipOn<Device> const& clip, layer::Schedule schedule)
    : cost_(cost), own_(cost.scope()), schedule_(std::move(schedule)) {
    static_cast<void>(Net<Device>::trace_and_build(cost));  // names the variables; names of states begin with these
    auto gradients = append_backward<T, Device>(cost, *own_);
    clip.add(*own_, gradients);
    std::vector<Variable*> outputs{&cost};
    for (auto const& g : gradients) {
        outputs.push_back(g.gradient);
        parameters_.push_back(g.parameter);
    }
    net_ = Net<Device>::trace_and_build(outputs);
    for (Variable* const v : net_.inputs()) {
        if (v->role() == Role::seed) seeds_.push_back(v);
    }
    for (auto const& other : others) {
        if (std::ranges::none_of(parameters_, [&](Variable const* v) { return v->name() == other.first; }))
            throw GraphError(std::string("there is no parameter \"")
                                 .append(other.first)
                                 .append("\" for the optimizer that names it"));
    }
    for (auto const& g : gradients) {
        auto const other = others.find(g.parameter->name());
        updates_.push_back((other == others.end() ? optimizer : other->second).add(*own_, g));
        changes_.append(*updates_.back().op);
        if (schedule_ && !updates_.back().has_rate)
            throw GraphError(std::string("the optimizer of ")
                                 .append(g.parameter->name())
                                 .append(" has no learning_rate for the schedule"));
    }
}

template <class T, class Device>
void Trainer<T, Device>::begin(std::uint64_t seed, Parameters const* resume, Device exec) {
    steps_ = resume == nullptr ? 0 : resume->steps;
    seed_ = seed;
    first_factor_ = factor();
    prepare(*first_factor_);  // throws if an optimizer rejects an option or the factor is not finite
    auto const is_resumed = [&](Variable const& v) {
        return resume != nullptr && (v.role() == Role::parameter || resume->contains(v.name()));
    };
    for (Variable* const v : variables()) {
        if (is_resumed(*v)) check_fits(*v, resume->find(v->name()));
    }
    std::uint64_t number = 0;
    for (Variable* const v : variables()) {
        std::uint64_t const own = bits_at(seed, ++number);
        if (is_resumed(*v)) {
            v->value() = own_copy(*v, resume->find(v->name()), exec);
        } else if (v->initialize) {
            v->initialize(v->value(), own, exec);
        }
    }
}

template <class T, class Device>
double Trainer<T, Device>::step(Feeds const& feeds, Device exec) {
    ScopeUse const use(cost_.scope());
    MemoryPool::Guard const guard(pool_);
    auto const first = std::exchange(first_factor_, std::nullopt);
    prepare(first ? *first : factor());
    feed(net_.inputs(), feeds, cost_.scope(), exec);
    for (Variable const* v : net_.inputs()) {
        if (v->role() != Role::data) continue;
        Value const& value = v->value();
        if (value.rows() == 0) throw ShapeError(v->name() + ".shape(0)", "0", "at least 1");
    }
    {
        KeptValues const kept(seeds_);  // outside of this run, the seeds are empty
        for (std::size_t k = 0; k < seeds_.size(); ++k) seeds_[k]->value().set(seed_of(k, exec));
        in_order(exec, [&] { net_.run(*own_, exec); });
    }
    auto const& value = cost_.value().template get<LoDTensor<T, Device>>().value();
    if (value.size() != 1) throw ShapeError(cost_.name() + ".shape()", shape_text(value.shape()), "[1]");
    auto const cost = static_cast<double>(dtype<T>::widen(first_element(exec, value)));
    if (!std::isfinite(cost)) throw ValueError(std::string("the cost ").append(cost_.name()), cost, "a finite number");
    for (auto const& update : updates_) update.check_gradient();
    changes_.run(*own_, exec);
    ++steps_;
    return cost;
}

template <class T, class Device>
Parameters Trainer<T, Device>::parameters(Device exec) const {
    Parameters result;
    result.steps = steps_;
    for (Variable* const v : variables()) result.set(v->name(), v->value().copy());
    synchronize(exec);
    return result;
}

template <class T, class Device>
std::vector<Variable*> Trainer<T, Device>::variables() const {
    std::vector<Variable*> all = parameters_;
    for (auto const& update : updates_) all.insert(all.end(), update.states.begin(), update.states.end());
    return all;
}

template <class T, class Device>
Value Trainer<T, Device>::own_copy(Variable const& v, Value const& value, Device const& exec) {
    if (v.bring == nullptr) return value.copy();
    Value mine = value.share();
    v.bring(mine, exec, true);
    return mine;
}

template <class T, class Device>
void Trainer<T, Device>::prepare(double factor) {
    if (!std::isfinite(factor))
        throw ValueError(std::string("the schedule's factor for step ").append(std::to_string(steps_)), factor,
                         "a finite number");
    for (auto const& update : updates_) run_named(*update.op, [&] { update.prepare(steps_ + 1, factor); });
}

template <class T, class Device>
LoDTensor<std::int64_t, Device> Trainer<T, Device>::seed_of(std::size_t k, Device const& exec) const {
    std::uint64_t const now = bits_at(bits_at(~seed_, k + 1), static_cast<std::uint64_t>(steps_ + 1));
    return to_device(exec, Tensor<std::int64_t>{static_cast<std::int64_t>(now)});
}

ROWAN_TEMPLATE(class Trainer<float, Cpu>)
ROWAN_TEMPLATE(class Trainer<double, Cpu>)
ROWAN_TEMPLATE(void feed(std::span<Variable* const>, Feeds const&, Scope const&, Cpu const&))

}  // namespace rowan::inline v0::detail
