// rowan/train/optimizer.hpp: layer::Optimizer, the optimizer of train.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/op/elementwise/cast.hpp>
#include <rowan/op/table/to_dense.hpp>
#include <rowan/train/detail/option_values.hpp>
#include <rowan/train/optimizers.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A list of element types.
template <class... T>
struct dtypes {};

namespace layer {

/// The element types of an optimizer or a GradientClip that is given none: float and double, and bfloat16 if its
/// operator is one of rowan's.
template <class O>
using trained_dtypes = std::conditional_t<rowan::detail::is_builtin<typename O::op>, dtypes<float, double, bfloat16>,
                                          dtypes<float, double>>;

/// One of the optimizers of optimizers.hpp, or a user-defined one with the same members, for parameters of given
/// element types on a device.
template <class Device>
class OptimizerOn {
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

    /// The update of one parameter: its operator and its states.
    struct Update {
        Operator* op;                   ///< updates the parameter
        std::vector<Variable*> states;  ///< optimizer states, kept between steps
        bool has_rate;                  ///< whether it has a learning rate, which a schedule can scale
        /// Sets the step number, counted from 1, and multiplies the initial learning rate by `factor`.
        std::function<void(std::int64_t step, double factor)> set;
        /// Runs the operator on no rows, which checks its options. An operator with checks_first does so itself, as it runs.
        /// errors   ValueError if the optimizer rejects an option
        std::function<void()> check;
    };

    /// Of an optimizer that updates all rows, by `.lazy = false` or as Lamb: replaces a row-sparse gradient by a dense
    /// one, which it adds to the scope.
    /// errors   TypeError if this optimizer does not support the parameter's element type, or the parameter is a
    ///          SelectedRows, whose rows are updated only where they have a gradient
    /// cost     O(number of types), plus one operator
    void densify(Scope& scope, ParameterGradient& g) const;

    /// Adds the operator that updates a parameter, and its states, to a scope.
    /// errors   TypeError if this optimizer does not support the parameter's element type; GraphError if the scope
    ///          already has states of these names; the scope then is as before
    /// cost     O(number of types), plus one operator and its states
    Update add(Scope& scope, ParameterGradient const& g) const;

    /// The name and the options, which ranks that train together compare.
    rowan::detail::NamedValues const& values() const noexcept { return values_; }

private:
    struct Kind {
        std::int32_t wire;
        std::function<Update(Scope&, ParameterGradient const&)> make;
        Variable* (*dense)(Scope&, Variable&);  // makes a gradient dense; nullptr if the optimizer is lazy
    };

    Kind const& kind_for(ParameterGradient const& g) const;

    // The operator is instantiated only for optimizers that may need it.
    template <class T, class O>
    static auto to_dense_unless_lazy(O const& o) -> Variable* (*)(Scope&, Variable&) {
        static_cast<void>(o);
        if constexpr (requires { o.lazy; }) {
            if (!o.lazy)
                return [](Scope& scope, Variable& g) { return scope.new_op<to_dense_op, Device, T>({&g}).outputs[0]; };
        }
        return nullptr;
    }

    // Another operator for element types that are narrower than their states, if the optimizer has one.
    template <class T, class O>
    static auto op_for() {
        if constexpr (requires { typename O::narrowed_op; } && !std::is_same_v<T, rowan::detail::kept_t<T>>) {
            return std::type_identity<typename O::narrowed_op>{};
        } else {
            return std::type_identity<typename O::op>{};
        }
    }

    template <class T>
    static LoDTensor<T, Device> zeros(Dims const& dims, AnyExec exec = {});

    // Adds the states of an operator and the operator, for all optimizers of one element type; with `row_states`, a state
    // has one element for each row.
    template <class T>
    static Update add_states(Scope& scope, ParameterGradient const& g, op_kernel const& kernel, bool row_states,
                             Attributes attributes);

    template <class T, class O>
    static Update make(O const& o, Scope& scope, ParameterGradient const& g);

    template <class T, class S, class Op, std::size_t... state>
    static op_kernel const& kernel_for(std::index_sequence<state...>);

    std::vector<Kind> kinds_;
    std::string types_;  // their names
    rowan::detail::NamedValues values_;
};

template <class Device>
template <optimizer_options O, class... T>
OptimizerOn<Device>::OptimizerOn(O const& o, dtypes<T...>)
    : types_(rowan::detail::dtype_list<T...>()), values_(rowan::detail::option_values(o)) {
    static_assert((detail::is_element<T>() && ...),
                  "rowan::layer::Optimizer: specialize rowan::dtype<T> for each of these element types");
    (kinds_.push_back({dtype<T>::wire,
                       [o](Scope& scope, ParameterGradient const& g) -> Update { return make<T>(o, scope, g); },
                       to_dense_unless_lazy<T>(o)}),
     ...);
}

template <class Device>
auto OptimizerOn<Device>::add(Scope& scope, ParameterGradient const& g) const -> Update {
    Kind const& kind = kind_for(g);
    rowan::detail::ScopeRollback added(scope);
    Update update = kind.make(scope, g);
    added.keep();
    return update;
}

template <class Device>
void OptimizerOn<Device>::densify(Scope& scope, ParameterGradient& g) const {
    if (g.gradient->spec().type != VarType::SELECTED_ROWS) return;
    auto const dense = kind_for(g).dense;
    if (dense == nullptr) return;
    if (g.parameter->spec().type == VarType::SELECTED_ROWS)
        throw TypeError(std::string("an optimizer that updates all rows: ").append(g.parameter->name()),
                        rowan::detail::kind_text(g.parameter->spec()), "a LoDTensor");
    g.gradient = dense(scope, *g.gradient);
}

template <class Device>
auto OptimizerOn<Device>::kind_for(ParameterGradient const& g) const -> Kind const& {
    for (Kind const& kind : kinds_) {
        if (kind.wire == g.parameter->spec().dtype) return kind;
    }
    throw TypeError(std::string("the optimizer: the element type of ").append(g.parameter->name()),
                    rowan::detail::dtype_text(g.parameter->spec().dtype), types_);
}

template <class Device>
template <class T>
auto OptimizerOn<Device>::zeros(Dims const& dims, AnyExec exec) -> LoDTensor<T, Device> {
    typename Tensor<T>::shape_type shape;
    for (std::int64_t const dim : dims) shape.push_back(static_cast<std::size_t>(dim));
    return Tensor<T, Device>::zeros(exec.or_default<Device>(), shape);
}

template <class Device>
template <class T>
auto OptimizerOn<Device>::add_states(Scope& scope, ParameterGradient const& g, op_kernel const& kernel, bool row_states,
                                     Attributes attributes) -> Update {
    using S = rowan::detail::kept_t<T>;
    Update update{};
    Dims none = g.parameter->spec().dims;  // running the operator on no rows only checks its options
    none[0] = 0;
    Dims dims = g.parameter->spec().dims, no_states = none;
    if (row_states) {
        dims = {dims[0]};
        no_states = {0};
    }
    bool const some_rows = g.parameter->spec().type == VarType::SELECTED_ROWS;
    if (some_rows) dims[0] = UNK;
    std::vector<Variable*> inputs{g.parameter};
    std::vector<Value> empty(kernel.inputs.size());
    empty.front().set(zeros<T>(none));
    empty.back().set(zeros<T>(none));
    for (std::size_t i = 1; i + 1 < kernel.inputs.size(); ++i) {
        std::string name(g.parameter->name());
        name.append("@").append(kernel.name).append(".").append(kernel.inputs[i]);
        Variable& state = scope.new_var(name, tensor_spec<S>(dims), Role::state);
        state.bring = &rowan::detail::bring<S, Device>;
        state.initialize = [dims, some_rows, param = g.parameter](Value& value, std::optional<std::uint64_t>,
                                                                  AnyExec exec) {
            Dims all = dims;  // a row for each of the parameter's
            if (some_rows) all[0] = static_cast<std::int64_t>(param->value().row_values().rows());
            value.set(zeros<S>(all, exec));
        };
        update.states.push_back(&state);
        inputs.push_back(&state);
        empty[i].set(zeros<S>(no_states));
    }
    inputs.push_back(g.gradient);
    update.op = &scope.new_op(kernel, std::move(inputs), std::move(attributes));
    update.check = [op = update.op, empty = std::make_shared<std::vector<Value>>(std::move(empty))] {
        Device exec{};
        std::vector<Value*> in;
        for (Value& value : *empty) in.push_back(&value);
        op->kernel->run({.exec = exec, .in = in, .out = {}, .attributes = op->attributes});
    };
    return update;
}

template <class Device>
template <class T, class O>
auto OptimizerOn<Device>::make(O const& o, Scope& scope, ParameterGradient const& g) -> Update {
    using S = rowan::detail::kept_t<T>;
    using Op = typename decltype(op_for<T, O>())::type;
    auto const attributes = std::make_shared<typename Op::attributes>(rowan::detail::operator_options(o));
    op_kernel const& kernel = kernel_for<T, S, Op>(std::make_index_sequence<Op::updates::size - 1>{});
    auto update = add_states<T>(
        scope, g, kernel, requires { O::one_state_per_row; }, attributes);
    if constexpr (requires { requires Op::begins_with_param; }) {
        update.states[0]->initialize = [param = g.parameter](Value& value, std::optional<std::uint64_t>, AnyExec exec) {
            auto const& first = param->value().template get<LoDTensor<T, Device>>().value();
            value.set(LoDTensor<S, Device>(cast<S>(exec.or_default<Device>(), first)));
        };
    }
    update.has_rate = requires { attributes->learning_rate = 1.0; };
    update.set = [=](std::int64_t step, double factor) {
        if constexpr (requires { attributes->step = step; }) attributes->step = step;
        if constexpr (requires { attributes->learning_rate = factor; })
            attributes->learning_rate = rowan::detail::operator_options(o).learning_rate * factor;
    };
    return update;
}

template <class Device>
template <class T, class S, class Op, std::size_t... state>
op_kernel const& OptimizerOn<Device>::kernel_for(std::index_sequence<state...>) {
    return kernel_of<Op, Device, T, std::enable_if_t<(state >= 0), S>..., T>::value;
}

/// The optimizer for nets on the host.
using Optimizer = OptimizerOn<Cpu>;

ROWAN_TEMPLATE(class OptimizerOn<Cpu>)
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
