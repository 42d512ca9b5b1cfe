// rowan/layer/detail/parameter_updates.hpp: ParameterUpdates, the optimizers and averages of a trainer's parameters.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/layer/detail/feed.hpp>
#include <rowan/layer/detail/part_sums.hpp>
#include <rowan/layer/optimizer.hpp>
#include <rowan/layer/train_options.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The optimizer of a parameter.
template <class Device>
layer::OptimizerOn<Device> optimizer_of(ParameterGradient const& g, TrainOptionsOn<Device> const& options) {
    auto const other = options.optimizers.find(g.parameter->name());
    return other == options.optimizers.end() ? options.optimizer.value_or(layer::Sgd{}) : other->second;
}

/// The operators that change the parameters of a trainer, and the sums of gradients that they read.
template <class Device>
class ParameterUpdates {
public:
    /// Adds the operators between the gradients of batches and the optimizers to a scope.
    /// errors   TypeError as the constructor of Trainer
    void add_gradients(Scope& scope, std::vector<ParameterGradient> gradients, TrainOptionsOn<Device> const& options);

    /// The variables that each batch computes.
    std::span<Variable* const> computed() const noexcept { return computed_; }

    /// Adds the optimizers and averages to a scope, after a net of the variables above has been made. The names in
    /// options.rates are those of parameters.
    /// errors   as the constructor of Trainer
    void add_updates(Scope& scope, TrainOptionsOn<Device> const& options);

    std::int64_t batches() const noexcept { return done_.batches(); }          // of the next step, so far
    bool completes() const noexcept { return done_.batches() + 1 == parts_; }  // whether the next batch makes a step

    /// Sets the step number, counted from 0, and the learning rates, and checks the options of the optimizers.
    void prepare(std::int64_t step, double factor);

    /// Takes the gradients that a batch has left in computed(), and changes the parameters if the batch makes a step.
    /// Returns whether it does. On error, nothing has changed.
    bool take(Scope& scope, Device const& exec);

    /// Changes the parameters. There must be batches. On error, nothing has changed.
    void finish(Scope& scope, Device const& exec) { change(scope, exec, done_.total(exec)); }

    /// Appends the states of the optimizers, or the averages.
    void append_states(std::vector<Variable*>& all) const { append(updates_, all); }
    void append_averages(std::vector<Variable*>& all) const { append(averages_, all); }

private:
    using Updates = std::vector<typename layer::OptimizerOn<Device>::Update>;

    static void append(Updates const& updates, std::vector<Variable*>& all) {
        for (auto const& update : updates) all.insert(all.end(), update.states.begin(), update.states.end());
    }

    void change(Scope& scope, Device const& exec, std::vector<Value> gradients);

    std::vector<ParameterGradient> gradients_;         // that the optimizers read
    std::vector<Variable*> computed_, summed_, read_;  // the gradients of a batch, their sums, those in gradients_
    std::int64_t parts_ = 1;                           // the number of batches of a step
    PartSums<Device> done_;
    Net<Device> clips_, changes_;  // from summed_ to read_, if these differ from computed_; from read_ to parameters
    Updates updates_, averages_;
    std::vector<double> rates_;  // of the updates
};

template <class Device>
void ParameterUpdates<Device>::add_gradients(Scope& scope, std::vector<ParameterGradient> gradients,
                                             TrainOptionsOn<Device> const& options) {
    gradients_ = std::move(gradients);
    parts_ = options.parts.count();
    if (parts_ > 1) {
        for (auto& g : gradients_) {
            done_.sum_with(options.parts.sums_of(g));
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
    if (parts_ > 1) {
        clips_ = Net<Device>::trace_and_build(read_);
    } else {
        computed_ = summed_ = read_;
    }
}

template <class Device>
void ParameterUpdates<Device>::add_updates(Scope& scope, TrainOptionsOn<Device> const& options) {
    for (auto const& [name, rate] : options.rates) check_finite(std::string("the rate of ").append(name).c_str(), rate);
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
void ParameterUpdates<Device>::prepare(std::int64_t step, double factor) {
    if (!std::isfinite(factor))
        throw ValueError(std::string("the schedule's factor for step ").append(std::to_string(step)), factor,
                         "a finite number");
    for (std::size_t i = 0; i < updates_.size(); ++i)
        run_named(*updates_[i].op, [&] { updates_[i].prepare(step + 1, factor * rates_[i]); });
}

template <class Device>
bool ParameterUpdates<Device>::take(Scope& scope, Device const& exec) {
    std::vector<Value> gradients(computed_.size());
    for (std::size_t i = 0; i < gradients.size(); ++i) std::swap(gradients[i], computed_[i]->value());
    if (parts_ > 1) gradients = done_.merged(exec, std::move(gradients));
    bool const complete = completes();
    if (complete) {
        change(scope, exec, done_.total(exec, std::move(gradients)));
    } else {
        done_.add(exec, std::move(gradients));
    }
    return complete;
}

template <class Device>
void ParameterUpdates<Device>::change(Scope& scope, Device const& exec, std::vector<Value> gradients) {
    KeptValues const kept(summed_), also_kept(read_);  // outside of this call they are empty
    for (std::size_t i = 0; i < gradients.size(); ++i) summed_[i]->value() = std::move(gradients[i]);
    if (!clips_.operators().empty()) in_order(exec, [&] { clips_.run(scope, exec); });
    for (auto const& update : updates_) update.check_gradient();
    changes_.run(scope, exec);
    done_.clear();
}

ROWAN_TEMPLATE(class ParameterUpdates<Cpu>)

}  // namespace rowan::inline v0::detail
