// rowan/layer/while_loop.hpp: layer::while_loop, layers that run repeatedly while a condition is true.
#pragma once

#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/while_loop.hpp>
#include <rowan/layer/array.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/gradients.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

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

void check_state(std::size_t k, VarSpec const& after, VarSpec const& before);

/// Creates a loop with these initial states. The states of an iteration are variables of the loop's own scope.
std::shared_ptr<WhileBlock> begin_loop(Scope& outside, std::span<Variable* const> first,
                                       layer::WhileOptions const& options);

/// Adds the loop, once its condition and the states after an iteration are set. Gradients have elements of R.
template <class R, class Device>
Operator& finish_loop(Scope& outside, std::shared_ptr<WhileBlock> const& block, std::span<Variable* const> first) {
    auto& net = block->net;
    for (std::size_t k = 0; k < net.states.size(); ++k)
        check_state(k, net.states[k].after->spec(), net.states[k].before->spec());
    net.build();
    block->gradient_dtype = dtype<R>::wire;
    block->kernels = LoopKernels::of<R, Device>();
    block->holds = [](AnyExec exec, Value const& v) {
        auto const& flag = v.get<LoDTensor<bool, Device>>().value();
        if (flag.size() != 1) throw ShapeError("the condition's size", std::to_string(flag.size()), "1");
        return first_element(exec.get<Device>(), flag);
    };
    std::vector<Variable*> inputs(first.begin(), first.end());
    inputs.insert(inputs.end(), net.outer.begin(), net.outer.end());
    Operator& op = outside.new_op(while_kernel, std::move(inputs), block);
    op.inner_names = net.outer_names;
    op.build_backward = [&net] { net.build_backward(rowan::detail::gradient_kernels<R, Device>()); };
    return op;
}

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
    Scope& outside = default_scope();
    std::vector<Variable*> const inputs =
        std::apply([](State const&... s) { return std::vector<Variable*>{&*s...}; }, first);
    auto const block = d::begin_loop(outside, inputs, options);
    auto& net = block->net;
    d::WithdrawnScope refused{net.scope};
    {
        ScopeGuard const guard(*net.scope);
        auto const before = [&]<std::size_t... k>(std::index_sequence<k...>) {
            return std::tuple<State...>{State(*net.states[k].before)...};
        }
        (std::index_sequence_for<State...>{});
        Var<bool, Device> const holds = std::apply(condition, before);
        auto const after = d::as_tuple(std::apply(body, before));
        static_assert(std::is_same_v<std::remove_const_t<decltype(after)>, std::tuple<State...>>,
                      "rowan::layer::while_loop: the body must give as many states as it is given, of the same types");
        net.condition = &*holds;
        std::size_t k = 0;
        std::apply([&](State const&... s) { ((net.states[k++].after = &*s), ...); }, after);
    }
    Operator& op = d::finish_loop<R, Device>(outside, block, inputs);
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
