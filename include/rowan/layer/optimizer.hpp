// rowan/layer/optimizer.hpp: layer::Optimizer, what train changes parameters with, and those that there are.
#pragma once

#include <rowan/graph/backward.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/adagrad.hpp>
#include <rowan/op/adam.hpp>
#include <rowan/op/ftrl.hpp>
#include <rowan/op/momentum.hpp>
#include <rowan/op/rmsprop.hpp>
#include <rowan/op/rowwise_adagrad.hpp>
#include <rowan/op/sgd.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// Element types, as a type.
template <class... T>
struct dtypes {};

namespace layer {

struct Sgd {
    double learning_rate = 0.01;

    using op = sgd_op;
    SgdOptions options() const { return {learning_rate}; }
};

struct AdaGrad {
    double learning_rate = 0.01;
    double epsilon = 1e-6;

    using op = adagrad_op;
    AdagradOptions options() const { return {learning_rate, epsilon}; }
};

struct RowwiseAdaGrad {
    double learning_rate = 0.01;
    double epsilon = 1e-6;

    using op = rowwise_adagrad_op;
    static constexpr bool one_state_per_row = true;
    AdagradOptions options() const { return {learning_rate, epsilon}; }
};

struct Momentum {
    double learning_rate = 0.01;
    double momentum = 0.9;
    bool nesterov = false;
    double weight_decay = 0.0;

    using op = momentum_op;
    MomentumOptions options() const { return {learning_rate, momentum, nesterov, weight_decay}; }
};

struct Adam {
    double learning_rate = 0.001;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;

    using op = adam_op;
    AdamOptions options() const { return {learning_rate, beta1, beta2, epsilon, 1}; }
};

struct RmsProp {
    double learning_rate = 0.01;
    double rho = 0.9;
    double momentum = 0.0;
    double epsilon = 1e-6;

    using op = rmsprop_op;
    RmspropOptions options() const { return {learning_rate, rho, momentum, epsilon}; }
};

struct Ftrl {
    double learning_rate = 0.01;
    double l1 = 0.0;
    double l2 = 0.0;

    using op = ftrl_op;
    FtrlOptions options() const { return {learning_rate, l1, l2, -0.5}; }
};

template <class O>
concept optimizer_options = requires(O const& o) {
    typename O::op;
    { o.options() } -> std::same_as<typename O::op::attributes>;
};

/// One of the optimizers above, or the user's own with the same members, for parameters of some element types.
class Optimizer {
public:
    template <optimizer_options O>
    Optimizer(O const& o) : Optimizer(o, dtypes<float, double>{}) {}

    /// Parameters of other types, such as one of the user's.
    ///     Optimizer(AdaGrad{.learning_rate = 0.1}, dtypes<mine>{})
    template <optimizer_options O, class... T>
    Optimizer(O const& o, dtypes<T...>) {
        static_assert((element<T> && ...),
                      "rowan::layer::Optimizer: specialize rowan::dtype<T> for each of these element types");
        (kinds_.push_back({dtype<T>::wire,
                           [o](Scope& scope, ParameterGradient const& g) -> Update { return make<T>(o, scope, g); }}),
         ...);
    }

    /// The operator of a parameter, and what it keeps.
    struct Update {
        Operator* op;
        std::vector<Variable*> states;
        std::function<void(std::int64_t)> set_step;
    };

    /// Adds the operator that changes a parameter, and its states, to the scope of the parameter.
    /// errors   TypeError if it has elements of another type than this optimizer is for
    Update add(ParameterGradient const& g) const {
        for (auto const& [wire, make] : kinds_) {
            if (wire == g.parameter->spec().dtype) return make(g.parameter->scope(), g);
        }
        throw TypeError(g.parameter->name(), "of element type " + std::to_string(g.parameter->spec().dtype),
                        "one of the optimizer's");
    }

private:
    struct Kind {
        std::int32_t wire;
        std::function<Update(Scope&, ParameterGradient const&)> make;
    };

    // States have the type that sums are formed in, where that is an element type.
    template <class T>
    static auto state_type() {
        if constexpr (element<typename dtype<T>::sum>) {
            return std::type_identity<typename dtype<T>::sum>{};
        } else {
            return std::type_identity<T>{};
        }
    }

    template <class T, class O>
    static Update make(O const& o, Scope& scope, ParameterGradient const& g) {
        using S = typename decltype(state_type<T>())::type;
        Update update{nullptr, {}, [](std::int64_t) {}};
        Dims dims = g.parameter->spec().dims;
        if constexpr (requires { O::one_state_per_row; }) dims = {dims[0]};
        std::vector<Variable*> inputs{g.parameter};
        for (std::string_view const name : O::op::updates::names) {
            if (name == "param") continue;
            std::string full(g.parameter->name());
            full.append("@").append(O::op::name).append(".").append(name);
            Variable* const former = scope.find(full);  // of an earlier training
            Variable& state = former != nullptr ? *former : scope.new_var(full, tensor_spec<S>(dims), Role::state);
            state.initialize = [dims](Value& value, std::uint64_t) {
                typename Tensor<S>::shape_type shape;
                for (std::int64_t const dim : dims) shape.push_back(static_cast<std::size_t>(dim));
                value.set(LoDTensor<S>(Tensor<S>::zeros(shape)));
            };
            update.states.push_back(&state);
            inputs.push_back(&state);
        }
        inputs.push_back(g.gradient);
        auto const attributes = std::make_shared<typename O::op::attributes>(o.options());
        if constexpr (requires { attributes->step = 1; })
            update.set_step = [attributes](std::int64_t step) { attributes->step = step; };
        update.op = &scope.new_op(code<T, S, typename O::op>(std::make_index_sequence<O::op::updates::size - 1>{}),
                                  std::move(inputs), attributes);
        return update;
    }

    template <class T, class S, class Op, std::size_t... state>
    static op_code const& code(std::index_sequence<state...>) {
        return code_of<Op, Cpu, T, std::enable_if_t<(state >= 0), S>..., T>::value;
    }

    std::vector<Kind> kinds_;
};

}  // namespace layer

}  // namespace rowan::inline v0
