// rowan/layer/detail/recurrence.hpp: recurrence, which builds the net of a step and adds its operator.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/layer/detail/loop_type.hpp>
#include <rowan/layer/detail/run_parts.hpp>
#include <rowan/layer/memory.hpp>
#include <rowan/op/var_spec.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

struct RnnBlock;

}  // namespace rowan::inline v0

namespace rowan::inline v0::detail {

/// The element type of states and results: State unless it is void, else T, or float if T is an integer type.
template <class State, class T>
using state_t = std::conditional_t<!std::is_void_v<State>, State, std::conditional_t<std::is_integral_v<T>, float, T>>;

/// A recurrent layer whose step is being built.
struct OpenRecurrence {
    Scope& outside;
    std::shared_ptr<RnnBlock> block;
    Scope& step;                    // the scope of a step
    Variable& x;                    // the input of a step
    std::vector<Variable*> inputs;  // of the operator
    std::vector<Variable*> before;  // the states before a step
};

/// Makes a block with a scope within `outside`, for the steps of the sequences of x: it has the input of a step
/// and the states before it.
/// errors   ShapeError if x has no levels, or an initial state is not a matrix; TypeError if its element type is not that
///          of `state`; ValueError if x does not have that level, or a memory has no size, or both a size and an initial
///          state
ROWAN_IF_CALLED OpenRecurrence open_recurrence(Scope& outside, Variable& x, std::span<layer::Memory const> memories,
                                               layer::RnnOptions const& options, VarSpec const& state);

/// How the parts of a batch run on a device.
struct DeviceParts {
    bool runs_whole;  // see detail::runs_whole
    void (*for_parts)(AnyExec exec, std::size_t parts, std::size_t work,
                      std::function<void(std::size_t, AnyExec)> const& f);
};
template <class Device>
void for_parts(AnyExec exec, std::size_t parts, std::size_t work, std::function<void(std::size_t, AnyExec)> const& f) {
    run_parts(exec.get<Device>(), parts, work, f);
}
ROWAN_TEMPLATE(void for_parts<Cpu>(AnyExec, std::size_t, std::size_t, std::function<void(std::size_t, AnyExec)> const&))

/// Completes the net of a step with its output and the states after it, and adds the operator to the net outside.
/// errors   ShapeError if the states differ from those before the step in number or width, or do not have one row for
///          each sequence
ROWAN_IF_CALLED Operator& close_recurrence(OpenRecurrence& open, Variable& output, std::span<Variable* const> after,
                                           LoopType const& type, DeviceParts const& parts);

/// Checks the type of a step of a recurrent layer: of its arguments and of its result.
template <class F, class X, class States, class Step>
constexpr void check_step() {
    constexpr bool takes = std::invocable<F, X, States>;
    static_assert(
        takes, "rowan::layer::rnn: the step takes its input and the state before it: [](auto x_t, auto state) { … }");
    if constexpr (takes) {
        static_assert(std::convertible_to<std::invoke_result_t<F, X, States>, Step>,
                      "rowan::layer::rnn: the step returns layer::Step{output, state}");
    }
}

/// Calls `step(x_t, states)` once, to build the net of a step.
template <class R, class T, class Device, class F>
layer::Recurrences<R, Device> recurrence(layer::Var<T, Device> const& x, std::span<layer::Memory const> memories,
                                         layer::RnnOptions const& options, F const& step) {
    using layer::Var;
    check_step<F const&, Var<T, Device>, std::vector<Var<R, Device>>&, layer::Step<R, Device>>();
    auto open = open_recurrence(default_scope(), *x, memories, options, tensor_spec<R>({}));
    WithdrawnScope refused{&open.step};
    layer::Step<R, Device> const made = [&] {
        ScopeGuard const guard(open.step);
        std::vector<Var<R, Device>> states;
        for (Variable* const v : open.before) states.emplace_back(*v);
        return step(Var<T, Device>(open.x), states);
    }();
    std::vector<Variable*> after;
    for (auto const& state : made.memory.all()) after.push_back(&*state);
    Operator const& op = close_recurrence(open, *made.output, after, LoopType::of<R, Device>(),
                                          {runs_whole<Device>, &for_parts<Device>});
    refused.scope = nullptr;
    layer::Recurrences<R, Device> result{Var<R, Device>(*op.outputs[after.size()]), {}};
    for (std::size_t m = 0; m < after.size(); ++m) result.last.emplace_back(*op.outputs[m]);
    return result;
}

}  // namespace rowan::inline v0::detail

#include <rowan/layer/detail/recurrence_inl.hpp>
