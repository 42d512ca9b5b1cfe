// rowan/layer/detail/recurrence.hpp: recurrence, which builds the net of a step and adds its operator.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/graph/rnn.hpp>
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

namespace rowan::inline v0::detail {

/// The element type of states and results: State unless it is void, else T, or float if T is an integer type.
template <class State, class T>
using state_t = std::conditional_t<!std::is_void_v<State>, State, std::conditional_t<std::is_integral_v<T>, float, T>>;

/// A block with an empty scope within `outside`, for the steps of the sequences of x.
/// errors   ShapeError if x has no levels; ValueError if it does not have that level
ROWAN_IF_CALLED std::shared_ptr<RnnBlock> new_rnn_block(Scope& outside, VarSpec const& x,
                                                        layer::RnnOptions const& options);

/// Adds the states before a step to the scope of the block, and the initial states to `inputs`.
/// errors   ShapeError if an initial state is not a matrix; TypeError if its element type is not that of `state`;
///          ValueError if a memory has no size, or both a size and an initial state
ROWAN_IF_CALLED std::vector<Variable*> add_memories(RnnBlock& block, std::span<layer::Memory const> memories,
                                                    VarSpec const& state, std::vector<Variable*>& inputs);

/// Completes the net of a step with its output and the states after it.
/// errors   ShapeError if the states differ from those before the step in number or width, or do not have one row for
///          each sequence
ROWAN_IF_CALLED void end_step(RnnBlock& block, Variable& output, std::span<Variable* const> before,
                              std::span<Variable* const> after);

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
    Scope& outside = default_scope();
    auto const block = new_rnn_block(outside, x->spec(), options);
    WithdrawnScope refused{block->scope.get()};
    std::vector<Variable*> inputs{&*x};
    auto const before = add_memories(*block, memories, tensor_spec<R>({}), inputs);
    layer::Step<R, Device> const made = [&] {
        ScopeGuard const guard(*block->scope);
        std::vector<Var<R, Device>> states;
        for (Variable* const v : before) states.emplace_back(*v);
        return step(Var<T, Device>(*block->net.x), states);
    }();
    std::vector<Variable*> after;
    for (auto const& state : made.memory.all()) after.push_back(&*state);
    end_step(*block, *made.output, before, after);
    block->runs_whole = runs_whole<Device>;
    block->kernels = LoopKernels::of<R, Device>();
    block->for_parts = [](AnyExec exec, std::size_t parts, std::size_t work,
                          std::function<void(std::size_t, AnyExec)> const& f) {
        run_parts(exec.get<Device>(), parts, work, f);
    };
    inputs.insert(inputs.end(), block->net.outer.begin(), block->net.outer.end());
    Operator& op = outside.new_op(rnn_kernel, std::move(inputs), block);
    op.inner_names = block->net.outer_names;
    op.build_backward = [&net = block->net] { net.build_backward(rowan::detail::gradient_kernels<R, Device>()); };
    refused.scope = nullptr;
    layer::Recurrences<R, Device> result{Var<R, Device>(*op.outputs[before.size()]), {}};
    for (std::size_t m = 0; m < before.size(); ++m) result.last.emplace_back(*op.outputs[m]);
    return result;
}

}  // namespace rowan::inline v0::detail

#include <rowan/layer/detail/recurrence_inl.hpp>
