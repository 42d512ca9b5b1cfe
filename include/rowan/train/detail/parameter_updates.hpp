// rowan/train/detail/parameter_updates.hpp: ParameterUpdates, the optimizers and averages of a trainer's parameters.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/optimizer.hpp>
#include <rowan/train/parameters.hpp>
#include <rowan/train/train_options.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The optimizer of a parameter.
template <class Device>
layer::OptimizerOn<Device> optimizer_of(ParameterGradient const& g, TrainOptionsOn<Device> const& options) {
    auto const other = options.optimizers.find(g.parameter->name());
    return other == options.optimizers.end() ? options.optimizer.value_or(layer::Sgd{}) : other->second;
}

/// Throws a ValueError unless a factor of learning rates is finite and not negative.
inline void check_factor(std::string const& field, double factor) {
    check_finite(field.c_str(), factor);
    if (factor < 0) throw ValueError(field, factor, "0 or more");
}

/// Throws a ShapeError unless the gradient has the shape of the parameter.
inline void check_shape(Variable const& parameter, Variable const& gradient) {
    auto const want = parameter.value().spec().dims, dims = gradient.value().spec().dims;
    if (dims != want)
        throw ShapeError(std::string("the gradient ").append(gradient.name()).append(".shape()"), shape_text(dims),
                         shape_text(want).append(", that of ").append(parameter.name()));
}

/// The operators that change the parameters of a trainer.
template <class Device>
class ParameterUpdates {
public:
    /// Adds the operators between the gradients of batches and the optimizers to a scope. If `apart`, these operators are
    /// a net of their own, so that gradients of several batches can be summed.
    /// errors   TypeError as the constructor of Trainer
    void add_gradients(Scope& scope, std::vector<ParameterGradient> gradients, TrainOptionsOn<Device> const& options,
                       bool apart);

    /// The gradients that each batch computes, in the order of the parameters.
    std::span<Variable* const> computed() const noexcept { return computed_; }
    /// Those of a step: if they are apart, the caller gives them their values.
    std::span<Variable* const> summed() const noexcept { return summed_; }
    /// Those that the optimizers read.
    std::span<Variable* const> read() const noexcept { return read_; }

    /// Adds the optimizers and averages to a scope, after a net of the variables above has been made. The names in
    /// options.rates are those of parameters.
    /// errors   as the constructor of Trainer
    void add_updates(Scope& scope, TrainOptionsOn<Device> const& options);

    /// Checks that the states to resume have a row for each row of a parameter that is a SelectedRows.
    /// errors   ShapeError if not
    void check_states(Parameters const& resume) const;

    /// Sets the step number, counted from 0, and the learning rates. Checks the options of all optimizers, or only of
    /// those without checks_first: `change` checks the others before any parameter changes.
    void prepare(std::int64_t step, double factor, bool all);

    /// Changes the parameters by the gradients in summed(). On an error other than of memory, nothing has changed, on any
    /// rank.
    void change(Scope& scope, Device const& exec, Ranks const* ranks);

    /// The states that begin with an average, so that a resumed training may lack them.
    std::unordered_set<Variable const*> begin_with_average() const {
        std::unordered_set<Variable const*> all;
        for (auto const& update : averages_) {  // state 0 is the average
            if (!update.states.empty()) all.insert(update.states.begin() + 1, update.states.end());
        }
        return all;
    }
    /// Calls f(parameter, missed steps) for each parameter whose row-sparse updates are deferred.
    template <class F>
    void each_deferred(F const& f) const {
        for (std::size_t i = 0; i < updates_.size(); ++i) {
            if (updates_[i].missed) f(*gradients_[i].parameter, updates_[i].missed);
        }
    }
    /// Appends the states of the optimizers, or the averages.
    void append_states(std::vector<Variable*>& all) const { append(updates_, all); }
    void append_averages(std::vector<Variable*>& all) const { append(averages_, all); }

private:
    using Updates = std::vector<ParameterUpdate>;

    static void append(Updates const& updates, std::vector<Variable*>& all) {
        for (auto const& update : updates) all.insert(all.end(), update.states.begin(), update.states.end());
    }

    std::vector<ParameterGradient> gradients_;         // that the optimizers read
    std::vector<Variable*> computed_, summed_, read_;  // the gradients of a batch, of a step, those in gradients_
    Net<Device> clips_, changes_;  // from summed_ to read_, if these differ from computed_; from read_ to parameters
    Updates updates_, averages_;
    std::vector<double> rates_;  // of the updates
};

template <class Device>
void ParameterUpdates<Device>::add_gradients(Scope& scope, std::vector<ParameterGradient> gradients,
                                             TrainOptionsOn<Device> const& options, bool apart) {
    gradients_ = std::move(gradients);
    if (apart) {
        for (auto& g : gradients_) {
            computed_.push_back(g.gradient);
            g.gradient = &scope.new_var(g.parameter->name() + "@GRAD_SUM", g.gradient->spec());
            summed_.push_back(g.gradient);
        }
    }
    options.clip.add(scope, gradients_);
    for (auto& g : gradients_) {
        optimizer_of(g, options).densify(scope, g);
        read_.push_back(g.gradient);
    }
    if (apart) {
        clips_ = Net<Device>::trace_and_build(read_);
    } else {
        computed_ = summed_ = read_;
    }
}

template <class Device>
void ParameterUpdates<Device>::add_updates(Scope& scope, TrainOptionsOn<Device> const& options) {
    for (auto const& [name, rate] : options.rates) check_factor(std::string("the rate of ").append(name), rate);
    for (auto const& g : gradients_) {
        updates_.push_back(optimizer_of(g, options).add(scope, g));
        changes_.append(*updates_.back().op);
        auto const rate = options.rates.find(g.parameter->name());
        bool const rated = rate != options.rates.end();
        rates_.push_back(rated ? rate->second : 1);
        if ((options.schedule || rated) && !updates_.back().has_rate)
            throw GraphError(std::string("the optimizer of ")
                                 .append(g.parameter->name())
                                 .append(" has no learning_rate for the ")
                                 .append(rated ? "factor in options.rates" : "schedule"));
    }
    if (!options.average) return;
    for (auto const& g : gradients_) {
        averages_.push_back(options.average.add(scope, *g.parameter));
        changes_.append(*averages_.back().op);
    }
}

template <class Device>
void ParameterUpdates<Device>::check_states(Parameters const& resume) const {
    for (std::size_t i = 0; i < updates_.size(); ++i) {
        Variable const& parameter = *gradients_[i].parameter;
        if (parameter.spec().type != VarType::SELECTED_ROWS) continue;
        std::size_t const rows = resume.find(parameter.name()).row_values().rows();
        for (Variable const* const state : updates_[i].states) {
            if (!resume.contains(state->name())) continue;
            std::size_t const there = resume.find(state->name()).rows();
            if (there != rows)
                throw ShapeError(std::string(state->name()).append(".shape(0)"), std::to_string(there),
                                 std::to_string(rows).append(", the number of rows of ").append(parameter.name()));
        }
    }
}

template <class Device>
void ParameterUpdates<Device>::prepare(std::int64_t step, double factor, bool all) {
    check_factor(std::string("the schedule's factor for step ").append(std::to_string(step)), factor);
    for (std::size_t i = 0; i < updates_.size(); ++i) {
        auto const& update = updates_[i];
        update.set(step + 1, factor * rates_[i]);
        if (all || !update.op->kernel->checks_first) run_named(*update.op, update.check);
    }
}

template <class Device>
void ParameterUpdates<Device>::change(Scope& scope, Device const& exec, Ranks const* ranks) {
    try {
        if (!clips_.operators().empty()) in_order(exec, [&] { clips_.run(scope, exec); });
        for (auto const& g : gradients_) {
            if (ranks != nullptr && g.parameter->sharded())
                g.gradient->value() =
                    own_rows(g.gradient->value(), shards_of(*g.parameter, ranks->size()), ranks->rank());
            check_shape(*g.parameter, *g.gradient);
        }
        changes_.run(scope, exec);
    } catch (std::bad_alloc const&) {  // on this rank alone; what optimizers reject, options and shapes, all reject
        if (ranks != nullptr) ranks->must([] { throw; });
        throw;
    }
}

ROWAN_TEMPLATE(class ParameterUpdates<Cpu>)

}  // namespace rowan::inline v0::detail
