// rowan/layer/var.hpp: Var, what layers take and give: a variable of the net whose element type is known.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/graph/scope.hpp>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Layers: functions that add operators and parameters to a net.
namespace rowan::inline v0::layer {

/// A variable of a scope. A copy is the same variable.
template <class T, class Device = Cpu>
class Var {
    static_assert(detail::is_element<T>(), "rowan::layer::Var<T>: specialize rowan::dtype<T> for this element type");

public:
    using value_type = T;

    /// The layer that a variable is.
    explicit Var(Variable& variable) : variable_(&variable) {}

    Variable& operator*() const noexcept { return *variable_; }  ///< its variable
    Variable* operator->() const noexcept { return variable_; }  ///< its variable

private:
    Variable* variable_;
};

/// Adds an operator, one of rowan's or the user's own, to the default scope: its first result.
///     auto y = layer::apply<my_op>({.slope = 0.1}, x);
/// Making a layer adds to a net and computes nothing; what dims tell is refused then, and where they are not known when the net runs.
/// shapes   those of the operator
/// errors   what the operator's infer says of inputs that do not fit
/// cost     an operator in the net; when that runs, what its `run` costs
template <class Op, class Device, class... T>
auto apply(attributes_of<Op> attributes, Var<T, Device> const&... in) {
    namespace d = rowan::detail;
    static_assert(operation<Op>,
                  "rowan::layer::apply: an operator has a name, inputs, outputs and grad, see rowan::operation");
    using First = std::tuple_element_t<0, std::tuple<T...>>;
    auto const add = [&]<class... In>(d::type_list<In...>) {
        using R = typename d::element_of<decltype(d::nth<0>(typename d::results_of<Op, Device, In...>::type{}))>::type;
        return Var<R, Device>(*default_scope().new_op<Op, Device, In...>({&*in...}, std::move(attributes)).outputs[0]);
    };
    if constexpr (Op::inputs::size == 1 && d::is_variadic<Op, Device, First>) {
        return add(d::type_list<First>{});  // of any number of inputs
    } else {
        return add(d::type_list<T...>{});
    }
}

}  // namespace rowan::inline v0::layer
