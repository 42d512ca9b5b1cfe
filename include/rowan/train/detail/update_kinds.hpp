// rowan/train/detail/update_kinds.hpp: what optimizers and clippings do for parameters of single element types.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/detail/missed_steps.hpp>
#include <rowan/train/detail/option_values.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// The update of one parameter: its operator and its states.
struct ParameterUpdate {
    Operator* op;                   ///< updates the parameter
    std::vector<Variable*> states;  ///< optimizer states, kept between steps
    bool has_rate;                  ///< whether it has a learning rate, which a schedule can scale
    /// Sets the step number, counted from 1, and multiplies the initial learning rate by `factor`.
    std::function<void(std::int64_t step, double factor)> set;
    /// Runs the operator on no rows, which checks its options. An operator with checks_first does so itself, as it runs.
    /// errors   ValueError if the optimizer rejects an option
    std::function<void()> check;
    std::shared_ptr<MissedSteps> missed = nullptr;  ///< where row-sparse updates are deferred
};

/// What an optimizer does for parameters of one element type on a device.
struct OptimizerKind {
    std::int32_t wire;  ///< dtype<T>::wire
    std::function<ParameterUpdate(Scope&, ParameterGradient const&)> make;
    Variable* (*dense)(Scope&, Variable&);  ///< makes a gradient dense; nullptr if the optimizer is lazy
};

/// What an AnyOptimizer holds.
struct OptimizerKinds {
    std::string types;   ///< the names of the element types
    NamedValues values;  ///< the name and the options
    std::vector<OptimizerKind> kinds;
};

/// What an AnyGradientClip holds.
struct ClipKinds {
    using Make = std::function<std::vector<Variable*>(Scope&, std::vector<Variable*>)>;  ///< returns the clipped ones
    struct OfType {
        std::int32_t wire;  ///< dtype<T>::wire
        Make make;
    };
    std::string_view name;       ///< that of the operator
    std::string types;           ///< the names of the element types
    NamedValues values;          ///< the name and the options
    std::vector<OfType> of_one;  ///< for gradients of one element type
    Make mixed;                  ///< clips gradients of several element types together
    bool together = false;       ///< whether one operator clips all gradients
};

}  // namespace rowan::inline v0::detail
