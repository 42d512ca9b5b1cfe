// rowan/train/detail/make_update.hpp: make_optimizer, the updates of parameters by operators whose functions are known here.
#pragma once

#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/detail/make_kernel.hpp>
#include <rowan/op/elementwise/cast.hpp>
#include <rowan/op/optimizer/moving_average.hpp>
#include <rowan/op/optimizer/optimizers.hpp>
#include <rowan/op/table/to_dense.hpp>
#include <rowan/train/detail/update_kinds.hpp>
#include <rowan/train/optimizer.hpp>
#include <rowan/train/optimizers.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class O>
struct CanMakeUpdates {};

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
    auto const attributes = std::make_shared<attributes_of<Op>>(operator_options(o));
    op_kernel const& kernel = []<std::size_t... state>(std::index_sequence<state...>)->op_kernel const& {
        return kernel_of<Op, Device, T, std::enable_if_t<(state >= 0), S>..., T>::value;
    }
    (std::make_index_sequence<declaration_of<Op>::updates::size - 1>{});
    constexpr bool row_states = requires { requires declaration_of<Op>::one_state_per_row; }
    || requires { O::one_state_per_row; };
    auto added = add_states(scope, g, kernel, row_states, attributes, updated_type<T, Device>, updated_type<S, Device>);
    ParameterUpdate update = std::move(added.update);
    if constexpr (requires { requires declaration_of<Op>::begins_with_param; }) {
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
    constexpr std::size_t states = declaration_of<Op>::updates::size - 1;
    if constexpr (requires(std::vector<Variable*> const& all) { missed_steps<T, S, states>(*attributes, all); }) {
        if (g.gradient->spec().type == VarType::SELECTED_ROWS) {
            std::vector<Variable*> all{g.parameter};
            all.insert(all.end(), update.states.begin(), update.states.end());
            update.missed = missed_steps<T, S, states>(*attributes, std::move(all));
        }
    }
    return update;
}

/// Whether the optimizer is layer::Deferred, of another one.
template <class O>
concept deferred_optimizer = requires {
    typename O::deferred;
};

/// Makes a gradient dense, for an optimizer that is not lazy. The operator is instantiated only for those that may need it.
template <class T, class Device, class O>
auto to_dense_unless_lazy([[maybe_unused]] O const& o) -> Variable* (*)(Scope&, Variable&) {
    constexpr bool dense_here = deferred_optimizer<O> && !std::is_same_v<Device, Cpu>;
    if constexpr (dense_here || requires { o.lazy; }) {
        bool lazy = false;
        if constexpr (!dense_here) lazy = o.lazy;
        if (!lazy)
            return [](Scope& scope, Variable& g) { return scope.new_op<to_dense_op, Device, T>({&g}).outputs[0]; };
    }
    return nullptr;
}

template <class Device, class O, class... T>
AnyOptimizer make_optimizer(O const& o, dtypes<T...>) {
    auto all = std::make_shared<OptimizerKinds>();
    all->types = dtype_list<T...>();
    all->values = option_values(o);
    (all->kinds.push_back({dtype<T>::wire,
                           [o](Scope& scope, ParameterGradient const& g) {
                               if constexpr (deferred_optimizer<O> && !std::is_same_v<Device, Cpu>) {
                                   return make_update<T, Device>(o.optimizer, scope, g);
                               } else {
                                   return make_update<T, Device>(o, scope, g);
                               }
                           },
                           to_dense_unless_lazy<T, Device>(o)}),
     ...);
    return AnyOptimizer(std::move(all));
}

ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::Sgd const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::AdaGrad const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::RowwiseAdaGrad const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::Momentum const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::Adam const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::AdamW const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::Adamax const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::Adadelta const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::Lamb const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::RmsProp const&, dtypes<float, double, bfloat16>))
ROWAN_TEMPLATE(AnyOptimizer make_optimizer<Cpu>(layer::Ftrl const&, dtypes<float, double, bfloat16>))

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/make_update_inl.hpp>
