// rowan/layer/var.hpp: Var, the input and result type of layers: a variable with a known element type.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/graph/scope.hpp>

#include <concepts>
#include <string>
#include <tuple>
#include <utility>

/// Layers: functions that add operators and parameters to a net.
namespace rowan::inline v0::layer {

/// A reference to a variable of a scope. Copies refer to the same variable.
template <class T, class Device = Cpu>
class Var {
    static_assert(std::same_as<T, std::string> || detail::is_element<T>(),
                  "rowan::layer::Var<T>: specialize rowan::dtype<T> for this element type");

public:
    using value_type = T;

    /// Refers to `variable`, which must have elements of T.
    explicit Var(Variable& variable) : variable_(&variable) {}

    // A mistake, which does not compile.
    template <std::same_as<std::string> S>
    operator S() const {
        static_assert(!std::same_as<S, std::string>,
                      "rowan::Feeds: the values of a batch have names: {{x->name(), value}}");
        return {};
    }

    Variable& operator*() const noexcept { return *variable_; }  ///< the variable
    Variable* operator->() const noexcept { return variable_; }  ///< the variable

private:
    Variable* variable_;
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

template <class V>
inline constexpr bool is_var = false;
template <class T, class Device>
inline constexpr bool is_var<layer::Var<T, Device>> = true;

/// For calls with an argument that is no Var, which do not compile.
template <class T, class Device>
void takes_var(layer::Var<T, Device> const&);
template <class V>
concept no_var = !requires(V const& v) {
    takes_var(v);
};
template <class... V>
constexpr void check_vars() {
    static_assert((!no_var<V> && ...),
                  "rowan::layer: a layer takes Vars: declare an input with layer::data<T>(name, dims), and feed the "
                  "tensor under this name");
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Adds an operator, built-in or user-defined, to the default scope and returns its first result.
///     auto y = layer::apply<my_op>({.slope = 0.1}, x);
/// A layer function adds to the net and computes nothing. It checks the dims that are known; the others are checked
/// when the net runs.
/// shapes   as the operator
/// errors   what the operator's `infer` throws for inputs that do not match
/// cost     one operator in the net; when the net runs, that of the operator's `run`
template <class Op, class Device, class... T>
auto apply(attributes_of<Op> attributes, Var<T, Device> const&... in) {
    namespace d = rowan::detail;
    static_assert(!(std::same_as<T, std::string> || ...),
                  "rowan::layer::apply: strings are the keys of tables, and no operator reads them: "
                  "layer::embedding(strings, {.width = 16, .kind = layer::Keyed{}})");
    static_assert(d::has_declaration<Op> || operation<Op>,
                  "rowan::layer::apply: an operator has a name, inputs, outputs and grad, see rowan::operation");
    static_assert(
        d::has_declaration<Op> || requires { d::CanMakeKernels<Op>{}; },
        "rowan::layer::apply: for an operator of your own, #include <rowan/own_operator.hpp>");
    auto const add = [&]<class... In>(d::type_list<In...>) {
        op_kernel const& kernel = kernel_of<Op, Device, In...>::value;
        using R = typename d::first_made<Op, Device, In...>::type;
        return Var<R, Device>(d::first_result(kernel, {&*in...}, d::owned(std::move(attributes))));
    };
    if constexpr (d::has_list<Op, Device, T...>) {
        return add(d::type_list<std::tuple_element_t<0, std::tuple<T...>>>{});
    } else {
        return add(d::type_list<T...>{});
    }
}

}  // namespace rowan::inline v0::layer
