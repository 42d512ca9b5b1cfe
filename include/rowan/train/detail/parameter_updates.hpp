// rowan/train/detail/parameter_updates.hpp: ParameterUpdates, the optimizers and averages of a trainer's parameters.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/train/detail/ranks.hpp>
#include <rowan/train/detail/train_settings.hpp>
#include <rowan/train/detail/trained_tables.hpp>
#include <rowan/train/detail/update_kinds.hpp>
#include <rowan/train/parameters.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

namespace rowan::inline v0::detail {

/// The operators that change the parameters of a trainer.
class ParameterUpdates {
public:
    /// Adds the operators between the gradients of batches and the optimizers to a scope. If `apart`, these operators are
    /// a net of their own, so that gradients of several batches can be summed.
    /// errors   TypeError as the constructor of Trainer
    ROWAN_IF_CALLED void add_gradients(Scope& scope, std::vector<ParameterGradient> gradients,
                                       TrainSettings const& options, bool apart);

    /// The gradients that each batch computes, in the order of the parameters.
    std::span<Variable* const> computed() const noexcept { return computed_; }
    /// Those of a step: if they are apart, the caller gives them their values.
    std::span<Variable* const> summed() const noexcept { return summed_; }
    /// Those that the optimizers read.
    std::span<Variable* const> read() const noexcept { return read_; }

    /// Adds the optimizers and averages to a scope, after a net of the variables above has been made. The names in
    /// options.rates are those of parameters.
    /// errors   as the constructor of Trainer
    ROWAN_IF_CALLED void add_updates(Scope& scope, TrainSettings const& options);

    /// Checks that the states to resume have a row for each row of a parameter that is a SelectedRows.
    /// errors   ShapeError if not
    ROWAN_IF_CALLED void check_states(Parameters const& resume) const;

    /// Sets the step number, counted from 0, and the learning rates. Checks the options of all optimizers, or only of
    /// those without checks_first: `change` checks the others before any parameter changes.
    ROWAN_IF_CALLED void prepare(std::int64_t step, double factor, bool all);

    /// Changes the parameters by the gradients in summed(). On an error other than of memory, nothing has changed, on any
    /// rank.
    ROWAN_IF_CALLED void change(Scope& scope, DeviceExec const& exec, Ranks const* ranks, TrainedTables const* tables);

    /// The states that begin with an average, so that a resumed training may lack them.
    ROWAN_IF_CALLED std::unordered_set<Variable const*> begin_with_average() const;
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
    NetOrder clips_, changes_;  // from summed_ to read_, if these differ from computed_; from read_ to parameters
    Updates updates_, averages_;
    std::vector<double> rates_;  // of the updates
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/parameter_updates_inl.hpp>
