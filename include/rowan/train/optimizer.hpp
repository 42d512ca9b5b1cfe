// rowan/train/optimizer.hpp: layer::Optimizer, the optimizer of train.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/train/detail/missed_steps.hpp>
#include <rowan/train/detail/option_values.hpp>
#include <rowan/train/optimizers.hpp>

#include <array>
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

/// A list of element types.
template <class... T>
struct dtypes {};

namespace detail {

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

/// Complete where updates can be made, see make_update.hpp.
template <class O>
struct CanMakeUpdates;

/// Whether the compiled library has all that O does for these element types.
template <class Device, class O, class... T>
inline constexpr bool is_compiled_optimizer = std::is_same_v<Device, Cpu>&& is_of_rowan<O>() && !requires {
    typename O::deferred;
}
&&((std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, bfloat16>)&&...);

/// What layer::OptimizerOn<Device> has that does not depend on Device.
class AnyOptimizer {
public:
    /// Of an optimizer that updates all rows, by `.lazy = false` or as Lamb: replaces a row-sparse gradient by a dense
    /// one, which it adds to the scope.
    /// errors   TypeError if this optimizer does not support the parameter's element type, or the parameter is a
    ///          SelectedRows, whose rows are updated only where they have a gradient
    /// cost     O(number of types), plus one operator
    ROWAN_IF_CALLED void densify(Scope& scope, ParameterGradient& g) const;

    /// Adds the operator that updates a parameter, and its states, to a scope.
    /// errors   TypeError if this optimizer does not support the parameter's element type; GraphError if the scope
    ///          already has states of these names; the scope then is as before
    /// cost     O(number of types), plus one operator and its states
    ROWAN_IF_CALLED ParameterUpdate add(Scope& scope, ParameterGradient const& g) const;

    /// The name and the options, which ranks that train together compare.
    NamedValues const& values() const noexcept { return values_; }

    /// For some of its element types, which have these numbers; their names.
    ROWAN_IF_CALLED AnyOptimizer only_for(std::span<std::int32_t const> wires, std::string types) &&;

private:
    template <class Device, class O, class... T>
    friend AnyOptimizer make_optimizer(O const& o, dtypes<T...>);

    AnyOptimizer(std::string types, NamedValues values, std::vector<OptimizerKind> kinds)
        : types_(std::move(types)), values_(std::move(values)), kinds_(std::move(kinds)) {}
    ROWAN_IF_CALLED OptimizerKind const& kind_for(ParameterGradient const& g) const;

    std::string types_;  // their names
    NamedValues values_;
    std::vector<OptimizerKind> kinds_;
};

/// An optimizer, a clipping or an average O for element types T..., see make_update.hpp.
template <class Device, class O, class... T>
AnyOptimizer make_optimizer(O const& o, dtypes<T...>);

/// make_optimizer, or that of the compiled library.
template <class Device, class O, class... T>
AnyOptimizer find_optimizer(O const& o, dtypes<T...> types) {
    using Compiled = dtypes<float, double, bfloat16>;
    if constexpr (!ROWAN_DECLARES_OPERATORS || !is_compiled_optimizer<Device, O, T...>) {
        static_assert(
            requires { CanMakeUpdates<O>{}; },
            "rowan::layer::Optimizer: the compiled library has no such optimizer for these element types and "
            "this device: #include <rowan/own_operator.hpp>");
        return make_optimizer<Device>(o, types);
    } else if constexpr (std::is_same_v<dtypes<T...>, Compiled>) {
        return make_optimizer<Cpu>(o, types);
    } else {
        return make_optimizer<Cpu>(o, Compiled{}).only_for(std::array{dtype<T>::wire...}, dtype_list<T...>());
    }
}

}  // namespace detail

namespace layer {

/// The element types of an optimizer or a GradientClip that is given none: float and double, and bfloat16 if its
/// operator is one of rowan's.
template <class O>
using trained_dtypes = std::conditional_t<rowan::detail::is_builtin<typename O::op>, dtypes<float, double, bfloat16>,
                                          dtypes<float, double>>;

/// One of the optimizers of optimizers.hpp, or a user-defined one with the same members, for parameters of given
/// element types on a device.
template <class Device>
class OptimizerOn : public rowan::detail::AnyOptimizer {
public:
    /// For parameters of the element types in trained_dtypes<O>.
    template <optimizer_options O>
    OptimizerOn(O const& o) : OptimizerOn(o, trained_dtypes<O>{}) {}

    /// For parameters of other element types, such as user-defined ones.
    ///     Optimizer(AdaGrad{.learning_rate = 0.1}, dtypes<mine>{})
    /// errors   std::bad_alloc
    /// cost     O(number of types)
    template <optimizer_options O, class... T>
    OptimizerOn(O const& o, dtypes<T...> types) : AnyOptimizer(rowan::detail::find_optimizer<Device>(o, types)) {
        static_assert((rowan::detail::is_element<T>() && ...),
                      "rowan::layer::Optimizer: specialize rowan::dtype<T> for each of these element types");
    }
};

/// The optimizer for nets on the host.
using Optimizer = OptimizerOn<Cpu>;

}  // namespace layer

}  // namespace rowan::inline v0

#include <rowan/train/optimizer_inl.hpp>

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/train/detail/make_update.hpp>
#endif
