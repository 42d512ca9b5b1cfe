// rowan/train/optimizer.hpp: layer::Optimizer, the optimizer of train.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/op/elementwise/cast.hpp>
#include <rowan/op/table/to_dense.hpp>
#include <rowan/train/detail/missed_steps.hpp>
#include <rowan/train/detail/option_values.hpp>
#include <rowan/train/optimizers.hpp>

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

/// What the update of a parameter needs of an element type on a device.
struct UpdatedType {
    std::int32_t dtype;  ///< dtype<T>::wire
    void (*zeros)(Value&, Dims const&, AnyExec);
    void (*bring)(Value&, AnyExec, bool);
};
template <class T, class Device>
void set_zeros(Value& value, Dims const& dims, AnyExec exec) {
    typename Tensor<T>::shape_type shape;
    for (std::int64_t const dim : dims) shape.push_back(static_cast<std::size_t>(dim));
    value.set(LoDTensor<T, Device>(Tensor<T, Device>::zeros(exec.or_default<Device>(), shape)));
}
template <class T, class Device>
inline constexpr UpdatedType updated_type{dtype<T>::wire, &set_zeros<T, Device>, &bring<T, Device>};

/// What add_states returns: an update without its check, and values without rows, on which the check runs the operator.
struct AddedStates {
    ParameterUpdate update;
    std::shared_ptr<std::vector<Value>> no_rows;
};
/// Adds the states of an operator and the operator; with `row_states`, a state has one element for each row.
ROWAN_IF_CALLED AddedStates add_states(Scope& scope, ParameterGradient const& g, op_kernel const& kernel,
                                       bool row_states, Attributes attributes, UpdatedType const& param,
                                       UpdatedType const& state);
/// Runs an operator on values that have no rows.
ROWAN_IF_CALLED void run_checked(AnyExec exec, Operator const& op, std::span<Value> no_rows);

/// The operator of an optimizer for elements of T: another one for those that are narrower than their states, if the
/// optimizer has it.
template <class O, class T>
struct optimizer_op_for {
    using type = typename O::op;
};
template <class O, class T>
requires(!std::is_same_v<T, kept_t<T>> && requires { typename O::narrowed_op; }) struct optimizer_op_for<O, T> {
    using type = typename O::narrowed_op;
};

/// Adds the operator of an optimizer and its states.
template <class T, class Device, class O>
ParameterUpdate make_update(O const& o, Scope& scope, ParameterGradient const& g) {
    using S = kept_t<T>;
    using Op = typename optimizer_op_for<O, T>::type;
    auto const attributes = std::make_shared<typename Op::attributes>(operator_options(o));
    op_kernel const& kernel = []<std::size_t... state>(std::index_sequence<state...>)->op_kernel const& {
        return kernel_of<Op, Device, T, std::enable_if_t<(state >= 0), S>..., T>::value;
    }
    (std::make_index_sequence<Op::updates::size - 1>{});
    constexpr bool row_states = requires { O::one_state_per_row; };
    auto added = add_states(scope, g, kernel, row_states, attributes, updated_type<T, Device>, updated_type<S, Device>);
    ParameterUpdate update = std::move(added.update);
    if constexpr (requires { requires Op::begins_with_param; }) {
        update.states[0]->initialize = [param = g.parameter](Value& value, std::optional<std::uint64_t>, AnyExec exec) {
            auto const& first = param->value().template get<LoDTensor<T, Device>>().value();
            value.set(LoDTensor<S, Device>(cast<S>(exec.or_default<Device>(), first)));
        };
    }
    update.check = [attributes, op = update.op, no_rows = std::move(added.no_rows)] {
        check_trains<Op>(*attributes);
        run_checked(Device{}, *op, *no_rows);
    };
    update.has_rate = requires { attributes->learning_rate = 1.0; };
    double rate = 1.0;
    if constexpr (requires { attributes->learning_rate; }) rate = attributes->learning_rate;
    update.set = [=](std::int64_t step, double factor) {
        if constexpr (requires { attributes->step = step; }) attributes->step = step;
        if constexpr (requires { attributes->learning_rate = factor; }) attributes->learning_rate = rate * factor;
    };
    constexpr std::size_t states = Op::updates::size - 1;
    if constexpr (requires(std::vector<Variable*> const& all) { missed_steps<T, S, states>(*attributes, all); }) {
        if (g.gradient->spec().type == VarType::SELECTED_ROWS) {
            std::vector<Variable*> all{g.parameter};
            all.insert(all.end(), update.states.begin(), update.states.end());
            update.missed = missed_steps<T, S, states>(*attributes, std::move(all));
        }
    }
    return update;
}

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

protected:
    struct Kind {
        std::int32_t wire;
        std::function<ParameterUpdate(Scope&, ParameterGradient const&)> make;
        Variable* (*dense)(Scope&, Variable&);  // makes a gradient dense; nullptr if the optimizer is lazy
    };
    AnyOptimizer(std::string types, NamedValues values) : types_(std::move(types)), values_(std::move(values)) {}

    std::vector<Kind> kinds_;

private:
    ROWAN_IF_CALLED Kind const& kind_for(ParameterGradient const& g) const;

    std::string types_;  // their names
    NamedValues values_;
};

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
    OptimizerOn(O const& o, dtypes<T...>);

private:
    /// Whether the optimizer is Deferred, of another one.
    template <class O>
    static constexpr bool is_deferred = requires {
        typename O::deferred;
    };

    // The operator is instantiated only for optimizers that may need it.
    template <class T, class O>
    static auto to_dense_unless_lazy([[maybe_unused]] O const& o) -> Variable* (*)(Scope&, Variable&) {
        constexpr bool dense_here = is_deferred<O> && !std::is_same_v<Device, Cpu>;
        if constexpr (dense_here || requires { o.lazy; }) {
            bool lazy = false;
            if constexpr (!dense_here) lazy = o.lazy;
            if (!lazy)
                return [](Scope& scope, Variable& g) { return scope.new_op<to_dense_op, Device, T>({&g}).outputs[0]; };
        }
        return nullptr;
    }
};

template <class Device>
template <optimizer_options O, class... T>
OptimizerOn<Device>::OptimizerOn(O const& o, dtypes<T...>)
    : AnyOptimizer(rowan::detail::dtype_list<T...>(), rowan::detail::option_values(o)) {
    static_assert((detail::is_element<T>() && ...),
                  "rowan::layer::Optimizer: specialize rowan::dtype<T> for each of these element types");
    (kinds_.push_back({dtype<T>::wire,
                       [o](Scope& scope, ParameterGradient const& g) {
                           if constexpr (is_deferred<O> && !std::is_same_v<Device, Cpu>) {
                               return rowan::detail::make_update<T, Device>(o.optimizer, scope, g);
                           } else {
                               return rowan::detail::make_update<T, Device>(o, scope, g);
                           }
                       },
                       to_dense_unless_lazy<T>(o)}),
     ...);
}

/// The optimizer for nets on the host.
using Optimizer = OptimizerOn<Cpu>;

ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Sgd const&, trained_dtypes<Sgd>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(AdaGrad const&, trained_dtypes<AdaGrad>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(RowwiseAdaGrad const&, trained_dtypes<RowwiseAdaGrad>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Momentum const&, trained_dtypes<Momentum>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Adam const&, trained_dtypes<Adam>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(AdamW const&, trained_dtypes<AdamW>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Adamax const&, trained_dtypes<Adamax>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Adadelta const&, trained_dtypes<Adadelta>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Lamb const&, trained_dtypes<Lamb>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(RmsProp const&, trained_dtypes<RmsProp>))
ROWAN_TEMPLATE(OptimizerOn<Cpu>::OptimizerOn(Ftrl const&, trained_dtypes<Ftrl>))

}  // namespace layer

}  // namespace rowan::inline v0

#include <rowan/train/optimizer_inl.hpp>
