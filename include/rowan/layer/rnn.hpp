// rowan/layer/rnn.hpp: layer::rnn, a recurrent layer whose step is a function of layers.
#pragma once

#include <rowan/layer/detail/recurrence.hpp>
#include <rowan/layer/memory.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::layer {

/// Runs `step(x_t, before)` for every step of the sequences of x and returns the outputs in the order of the input.
/// `step` is called once, to build the net of a step. Sequences are processed without padding, sorted by decreasing
/// length. Row-wise operators that depend only on x, or that the next step does not depend on, run once for all steps,
/// and so do the gradients of their weights; the gradient of a table that is looked up in the step stays row-sparse.
///
///     auto [h, last] = layer::rnn_with_last(x, layer::Memory{.size = 64}, [&](auto x_t, auto before) {
///         auto now = layer::gru_unit(x_t, before, {.size = 64});
///         return layer::Step{now, now};
///     });
///
/// If options.level is not the last level, x_t holds sequences of the levels below, which the step may pool or process
/// with a recurrent layer of its own. Except on Cuda, batches of 32 or more sequences are split into parts of at least
/// 16, which run in parallel on the host if they are enough work; the parts, and so the bits of the result, do not
/// depend on the number of threads. A step with an operator that needs all sequences at once, such as dropout, runs as
/// one part.
/// shapes   x [n, ...] with levels -> output [n, ...] with the same levels, last [sequences, size]
/// errors   ShapeError if x has no levels, an initial state is not a matrix, the states after a step differ in number
///          or shape from those before it, or the output or a state of a step does not have one row for each sequence;
///          ValueError if there is no such level, or a memory has no size or both a size and an initial state;
///          TypeError if the element type of an initial state differs from that of the states; when the net runs,
///          ShapeError if an initial state does not have one row for each sequence, or a step changes the width of a
///          state; errors of a step's operators name the step, counted from the end if options.reverse, and, for ids,
///          the sequence
/// cost     that of the step's operators, some of which run once for all steps; no allocation while the shapes do not
///          change; the states of all steps are kept for the gradient
template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, Memory const& memory, F const& step, RnnOptions const& options = {}) {
    using R = rowan::detail::state_t<State, T>;
    rowan::detail::check_step<F const&, Var<T, Device> const&, Var<R, Device> const&, Step<R, Device>>();
    auto const made = rowan::detail::recurrence<R>(
        x, std::span(&memory, 1), options, [&](auto const& x_t, auto const& before) { return step(x_t, before[0]); });
    return Recurrence<R, Device>{made.output, made.last[0]};
}
template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, std::int64_t size, F const& step, RnnOptions const& options = {}) {
    return rnn_with_last<State>(x, Memory{.size = size}, step, options);
}

/// A recurrent layer with several memories, as rnn_with_last with one: `step(x_t, states)` takes a list of states and
/// returns `layer::Step{output, {state, ...}}`.
/// shapes   x [n, ...] with levels -> output [n, ...] with the same levels, and for each memory last [sequences, size]
/// errors   those of rnn_with_last with one memory
/// cost     that of rnn_with_last with one memory
template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, std::vector<Memory> const& memories, F const& step,
                   RnnOptions const& options = {}) {
    return rowan::detail::recurrence<rowan::detail::state_t<State, T>>(x, memories, options, step);
}

/// Returns the outputs alone, as rnn_with_last.
template <class State = void, class T, class Device, class M, class F>
requires std::constructible_from<std::vector<Memory>, M> || std::convertible_to<M, Memory> || std::integral<M>
auto rnn(Var<T, Device> const& x, M const& memory, F const& step, RnnOptions const& options = {}) {
    return rnn_with_last<State>(x, memory, step, options).output;
}
template <class State = void, class T, class Device, class F>
auto rnn(Var<T, Device> const& x, std::vector<Memory> const& memories, F const& step, RnnOptions const& options = {}) {
    return rnn_with_last<State>(x, memories, step, options).output;
}

}  // namespace rowan::inline v0::layer
