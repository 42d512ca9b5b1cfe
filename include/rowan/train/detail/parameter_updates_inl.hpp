// rowan/train/detail/parameter_updates_inl.hpp: definitions of rowan/train/detail/parameter_updates.hpp.
#pragma once

#include <rowan/train/detail/parameter_updates.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>

#include <cstddef>
#include <new>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Throws a ValueError unless a factor of learning rates is finite and not negative.
inline void check_factor(std::string const& field, double factor) {
    check_finite(field.c_str(), factor);
    if (factor < 0) throw ValueError(field, factor, "0 or more");
}

/// Throws a ShapeError unless the gradient has the shape of the parameter.
inline void check_shape(Variable const& parameter, Variable const& gradient) {
    auto const want = parameter.value().spec().dims, dims = gradient.value().spec().dims;
    if (dims != want)
        throw ShapeError({"the gradient ", gradient.name(), ".shape()"}, shape_text(dims),
                         shape_text(want).append(", that of ").append(parameter.name()));
}

ROWAN_CALLED_FUNCTION AnyOptimizer const& TrainSettings::optimizer_of(ParameterGradient const& g) const {
    auto const other = optimizers.find(g.parameter->name());
    return other == optimizers.end() ? optimizer : other->second;
}

ROWAN_CALLED_FUNCTION void ParameterUpdates::add_gradients(Scope& scope, std::vector<ParameterGradient> gradients,
                                                           TrainSettings const& options, bool apart) {
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
        options.optimizer_of(g).densify(scope, g);
        read_.push_back(g.gradient);
    }
    if (apart) {
        clips_ = NetOrder(read_);
    } else {
        computed_ = summed_ = read_;
    }
}

ROWAN_CALLED_FUNCTION void ParameterUpdates::add_updates(Scope& scope, TrainSettings const& options) {
    for (auto const& [name, rate] : options.rates) check_factor(std::string("the rate of ").append(name), rate);
    for (auto const& g : gradients_) {
        updates_.push_back(options.optimizer_of(g).add(scope, g));
        changes_.append(*updates_.back().op);
        auto const rate = options.rates.find(g.parameter->name());
        bool const rated = rate != options.rates.end();
        rates_.push_back(rated ? rate->second : 1);
        if ((options.schedule || rated) && !updates_.back().has_rate)
            throw GraphError({"the optimizer of ", g.parameter->name(), " has no learning_rate for the ",
                              rated ? "factor in options.rates" : "schedule"});
    }
    if (!options.average) return;
    for (auto const& g : gradients_) {
        averages_.push_back(options.average.add(scope, *g.parameter));
        changes_.append(*averages_.back().op);
    }
}

ROWAN_CALLED_FUNCTION std::unordered_set<Variable const*> ParameterUpdates::begin_with_average() const {
    std::unordered_set<Variable const*> all;
    for (auto const& update : averages_) {  // state 0 is the average
        if (!update.states.empty()) all.insert(update.states.begin() + 1, update.states.end());
    }
    return all;
}

ROWAN_CALLED_FUNCTION void ParameterUpdates::check_states(Parameters const& resume) const {
    for (std::size_t i = 0; i < updates_.size(); ++i) {
        Variable const& parameter = *gradients_[i].parameter;
        if (parameter.spec().type != VarType::SELECTED_ROWS) continue;
        std::size_t const rows = resume.find(parameter.name()).row_values().rows();
        for (Variable const* const state : updates_[i].states) {
            if (!resume.contains(state->name())) continue;
            std::size_t const there = resume.find(state->name()).rows();
            if (there != rows)
                throw ShapeError({state->name(), ".shape(0)"}, there,
                                 {rows, ", the number of rows of ", parameter.name()});
        }
    }
}

ROWAN_CALLED_FUNCTION void ParameterUpdates::prepare(std::int64_t step, double factor, bool all) {
    check_factor(std::string("the schedule's factor for step ").append(std::to_string(step)), factor);
    for (std::size_t i = 0; i < updates_.size(); ++i) {
        auto const& update = updates_[i];
        update.set(step + 1, factor * rates_[i]);
        if (all || !update.op->kernel->checks_first) run_named(*update.op, update.check);
    }
}

ROWAN_CALLED_FUNCTION void ParameterUpdates::change(Scope& scope, DeviceExec const& exec, Ranks const* ranks,
                                                    TrainedTables const* tables) {
    try {
        if (!clips_.operators().empty()) in_order(exec, [&] { clips_.run(scope, exec); });
        for (auto const& g : gradients_) {
            if (ranks != nullptr && g.parameter->sharded())
                g.gradient->value() =
                    own_rows(g.gradient->value(), shards_of(*g.parameter, ranks->size()), ranks->rank());
            check_shape(*g.parameter, *g.gradient);
        }
        if (tables != nullptr) tables->write(exec.host(), gradients_);
        changes_.run(scope, exec);
    } catch (std::bad_alloc const&) {  // on this rank alone; what optimizers reject, options and shapes, all reject
        if (ranks != nullptr) ranks->must([] { throw; });
        throw;
    }
}

}  // namespace rowan::inline v0::detail

#endif
