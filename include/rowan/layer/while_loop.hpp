// rowan/layer/while_loop.hpp: layer::while_loop, layers that run repeatedly while a condition is true.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/layer/detail/loop_type.hpp>
#include <rowan/layer/var.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

struct WhileBlock;

}  // namespace rowan::inline v0

namespace rowan::inline v0::layer {

template <class T, class Device>
class Array;  // see array.hpp

/// The settings of layer::while_loop.
struct WhileOptions {
    std::int64_t max_iterations = 0;  ///< running more iterations is an error; 0: no limit
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

template <class V>
struct loop_state {
    static constexpr bool value = false;
};
template <class T, class Device>
struct loop_state<layer::Var<T, Device>> {
    static constexpr bool value = true;
    using element = T;
    using device = Device;
};
template <class T, class Device>
struct loop_state<layer::Array<T, Device>> : loop_state<layer::Var<T, Device>> {};

/// The element type of gradients: that of the first state with a non-integer type, else float.
template <class... T>
struct gradient_element {
    using type = float;
};
template <class T, class... More>
struct gradient_element<T, More...> {
    using type =
        typename std::conditional_t<std::is_integral_v<T>, gradient_element<More...>, std::type_identity<T>>::type;
};

/// What a body returns, one state or a tuple of states, as a tuple.
template <class V>
std::tuple<V> states_of(V state) {
    return std::tuple<V>(std::move(state));
}
template <class... V>
std::tuple<V...> states_of(std::tuple<V...> states) {
    return states;
}

/// The variables of states.
template <class... V>
std::array<Variable*, sizeof...(V)> variables_of(std::tuple<V...> const& states) {
    return std::apply([](V const&... v) { return std::array<Variable*, sizeof...(V)>{&*v...}; }, states);
}

/// The value of a condition; `field` for errors.
template <class Device>
bool condition_holds(AnyExec exec, Value const& v, char const* field) {
    auto const& flag = v.get<LoDTensor<bool, Device>>().value();
    if (flag.size() != 1) throw ShapeError(field, flag.size(), "1");
    return first_element(exec.get<Device>(), flag);
}
template <class Device>
bool loop_holds(AnyExec exec, Value const& v) {
    return condition_holds<Device>(exec, v, "the condition's size");
}
ROWAN_TEMPLATE(bool loop_holds<Cpu>(AnyExec, Value const&))

/// A loop whose condition and body are being built.
struct OpenLoop {
    Scope& outside;
    std::shared_ptr<WhileBlock> block;
    Scope& scope;                   // of an iteration
    std::vector<Variable*> before;  // the states before an iteration, in that scope
};

/// Makes a loop with these initial states, within `outside`. The states of an iteration are variables of the
/// loop's own scope.
ROWAN_IF_CALLED OpenLoop open_loop(Scope& outside, std::span<Variable* const> first,
                                   layer::WhileOptions const& options);

/// Adds the loop, of which the condition and the states after an iteration are known.
ROWAN_IF_CALLED Operator& close_loop(OpenLoop& open, std::span<Variable* const> first, Variable& condition,
                                     std::span<Variable* const> after, LoopType const& type,
                                     bool (*holds)(AnyExec, Value const&));

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// Runs `body` while `condition` is true and returns the states after the last iteration. Both are called once, with
/// the states, to build the net of an iteration. A state is a Var or an Array. Gradients flow through all iterations;
/// the gradient of a table that is looked up in an iteration stays row-sparse.
///
///     auto [i, x] = layer::while_loop(
///         std::tuple(layer::full<std::int64_t>({1}, 0), x0),
///         [](auto i, auto) { return layer::less(i, 10); },
///         [&](auto i, auto x) {
///             return std::tuple(layer::scale(i, 1, 1), layer::tanh(layer::fc(x, {.output_size = 8})));
///         });
///
/// The body returns a tuple with as many states, of the same types; a single state needs no tuple. All iterations share
/// the parameters created in it. Gradients have the element type of the first state with a non-integer type; every
/// other state that needs a gradient must have the same type. Dropout has the same mask in all iterations. Within the
/// step of a recurrent layer, a loop runs on all sequences at once, so its result cannot be a state of the step.
/// shapes   as the states; the condition is [1]
/// errors   ShapeError or TypeError if a state after an iteration does not match the one before it; ValueError if
///          options.max_iterations is negative; when the net runs, ValueError if the loop exceeds
///          options.max_iterations, ShapeError if the condition does not have exactly one element
/// cost     that of the layers of every iteration; on a device, a synchronization for each condition; the values of
///          every iteration are kept if there is a gradient, else memory does not grow with the number of iterations
template <class Condition, class Body, class... State>
std::tuple<State...> while_loop(std::tuple<State...> const& first, Condition const& condition, Body const& body,
                                WhileOptions const& options = {}) {
    namespace d = rowan::detail;
    static_assert(sizeof...(State) > 0 && (d::loop_state<State>::value && ...),
                  "rowan::layer::while_loop: the states are a std::tuple of layer::Var and layer::Array");
    using Device = typename d::loop_state<std::tuple_element_t<0, std::tuple<State...>>>::device;
    using R = typename d::gradient_element<typename d::loop_state<State>::element...>::type;
    auto const inputs = d::variables_of(first);
    auto open = d::open_loop(default_scope(), inputs, options);
    d::WithdrawnScope refused{&open.scope};
    auto const [holds, after] = [&] {
        ScopeGuard const guard(open.scope);
        auto const before = [&]<std::size_t... k>(std::index_sequence<k...>) {
            return std::tuple<State...>{State(*open.before[k])...};
        }
        (std::index_sequence_for<State...>{});
        Var<bool, Device> const goes_on = std::apply(condition, before);
        auto const states = d::states_of(std::apply(body, before));
        static_assert(std::is_same_v<std::remove_const_t<decltype(states)>, std::tuple<State...>>,
                      "rowan::layer::while_loop: the body must give as many states as it is given, of the same types");
        return std::pair(&*goes_on, d::variables_of(states));
    }();
    Operator const& op =
        d::close_loop(open, inputs, *holds, after, d::LoopType::of<R, Device>(), &d::loop_holds<Device>);
    refused.scope = nullptr;
    return [&]<std::size_t... k>(std::index_sequence<k...>) { return std::tuple<State...>{State(*op.outputs[k])...}; }
    (std::index_sequence_for<State...>{});
}

/// Runs `body` while `condition` is true, with one state, which body takes and returns without a tuple.
/// shapes   as the state; the condition is [1]
/// errors   those of while_loop with a tuple
/// cost     that of while_loop with a tuple
template <class State, class Condition, class Body>
requires(rowan::detail::loop_state<State>::value) State
    while_loop(State const& first, Condition const& condition, Body const& body, WhileOptions const& options = {}) {
    return std::get<0>(while_loop(std::tuple<State>(first), condition, body, options));
}

}  // namespace rowan::inline v0::layer

#include <rowan/layer/while_loop_inl.hpp>
