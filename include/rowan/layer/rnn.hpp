// rowan/layer/rnn.hpp: layer::rnn, a recurrent layer whose step is a function of layers.
#pragma once

#include <rowan/detail/on_device.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/rnn.hpp>
#include <rowan/layer/detail/run_parts.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// A reference to a variable of any element type, or to none.
class AnyVar {
public:
    AnyVar() = default;  ///< no variable
    /// Refers to `v`.
    explicit AnyVar(Variable& v) : variable_(&v) {}
    /// Refers to the variable of `v`.
    template <class T, class Device>
    AnyVar(Var<T, Device> const& v) : variable_(&*v) {}
    Variable* get() const noexcept { return variable_; }  ///< nullptr if there is none

private:
    Variable* variable_ = nullptr;
};

/// A state of a recurrent layer. It is initialized with zeros of a given width, `Memory{.size = 64}`, or with one row
/// for each sequence, such as the last state of another layer, `Memory{.like = last}`.
struct Memory {
    std::int64_t size = 0;  ///< width of a state that is initialized with zeros
    AnyVar like = {};       ///< initial state, if given
};

/// One state, or a list of states.
template <class T, class Device>
class States {
public:
    /// One state.
    States(Var<T, Device> state) : all_{state} {}
    /// Several states.
    States(std::vector<Var<T, Device>> states) : all_(std::move(states)) {}
    /// Several states, in braces.
    States(std::initializer_list<Var<T, Device>> states) : all_(states) {}
    std::vector<Var<T, Device>> const& all() const noexcept { return all_; }  ///< in the order of the memories

private:
    std::vector<Var<T, Device>> all_;
};

/// The result of a step: its output, and the state for the next step or a list of states, one for each memory.
template <class T, class Device>
struct Step {
    Var<T, Device> output;                           ///< output of this step, one row for each sequence
    std::type_identity_t<States<T, Device>> memory;  ///< state for the next step
};
template <class T, class Device>
Step(Var<T, Device>, std::type_identity_t<States<T, Device>>) -> Step<T, Device>;

/// The result of a recurrent layer: one row for each row of the input, with the input's levels, and the last state of
/// each sequence.
template <class T, class Device>
struct Recurrence {
    Var<T, Device> output;  ///< one row for each row of the input
    Var<T, Device> last;    ///< state of each sequence after its last step
};

/// The same with one last state for each of several memories.
template <class T, class Device>
struct Recurrences {
    Var<T, Device> output;             ///< one row for each row of the input
    std::vector<Var<T, Device>> last;  ///< for each memory, the state of each sequence after its last step
};

/// How a recurrent layer iterates over sequences.
struct RnnOptions {
    bool reverse = false;       ///< iterate from the ends of the sequences to their beginnings
    std::ptrdiff_t level = -1;  ///< level whose sequences are iterated over; negative values count from the last
};

}  // namespace rowan::inline v0::layer

namespace rowan::inline v0::detail {

/// The element type of states and results: State unless it is void, else T, or float if T is an integer type.
template <class State, class T>
using state_t = std::conditional_t<!std::is_void_v<State>, State, std::conditional_t<std::is_integral_v<T>, float, T>>;

/// Calls `step(x_t, states)` once, to build the net of a step.
template <class R, class T, class Device, class F>
layer::Recurrences<R, Device> recurrence(layer::Var<T, Device> const& x, std::span<layer::Memory const> memories,
                                         layer::RnnOptions const& options, F const& step) {
    using layer::Var;
    Scope& outside = default_scope();
    auto const block = std::make_shared<RnnBlock>();
    auto& net = block->net;
    block->scope = std::make_unique<Scope>(outside);
    net.scope = block->scope.get();
    WithdrawnScope refused{net.scope};
    spec::has_levels("layer::rnn: x", x->spec());
    auto const levels = static_cast<std::ptrdiff_t>(x->spec().lod_level);
    if (options.level < -levels || options.level >= levels)
        throw ValueError("layer::rnn: level", static_cast<double>(options.level),
                         std::string("a level of x, which has ").append(std::to_string(levels)));
    block->level = static_cast<std::size_t>(options.level < 0 ? options.level + levels : options.level);
    block->reverse = options.reverse;
    block->runs_whole = runs_whole<Device>;
    VarSpec x_t = x->spec();
    x_t.lod_level -= block->level + 1;
    x_t.dims[0] = UNK;
    net.x = &net.scope->new_var("x", x_t);
    std::vector<Variable*> inputs{&*x};
    std::vector<Var<R, Device>> before;
    for (layer::Memory const& memory : memories) {
        Variable* const boot = memory.like.get();
        if (boot != nullptr) {
            spec::matrix("layer::rnn: memory", boot->spec());
            if (boot->spec().dtype != dtype<R>::wire)
                throw TypeError("layer::rnn: memory.like", kind_text(boot->spec()), kind_text(tensor_spec<R>({})));
        }
        if (boot == nullptr ? memory.size < 1 : memory.size != 0)
            throw ValueError("layer::rnn: memory.size", static_cast<double>(memory.size),
                             boot == nullptr ? "1 or more" : "0 beside memory.like");
        std::int64_t const size = boot == nullptr ? memory.size : boot->spec().dims[1];
        std::string name("before");
        if (!before.empty()) name.append("_").append(std::to_string(before.size()));
        before.emplace_back(net.scope->new_var(name, tensor_spec<R>({UNK, size})));
        block->has_boot.push_back(boot != nullptr);
        if (boot != nullptr) inputs.push_back(boot);
    }
    layer::Step<R, Device> const made = [&] {
        ScopeGuard const guard(*net.scope);
        return step(Var<T, Device>(*net.x), before);
    }();
    auto const& after = made.memory.all();
    if (after.size() != before.size())
        throw ShapeError("layer::rnn: the number of states after a step", std::to_string(after.size()),
                         std::to_string(before.size()));
    net.out = &*made.output;
    for (std::size_t m = 0; m < before.size(); ++m) {
        Variable &first = *before[m], &next = *after[m];
        if (!(next.spec().dims == first.spec().dims))
            throw ShapeError("layer::rnn: the width of the state after a step",
                             next.spec().dims.size() == 2 ? std::to_string(next.spec().dims[1]) : "no number",
                             std::to_string(first.spec().dims[1]));
        net.memories.push_back({&first, &next});
    }
    net.build();
    auto const check_rows = [&](Variable const& v) {
        if (!net.has_rows(v) || v.spec().dims.empty() || v.spec().dims[0] != UNK)
            throw ShapeError("layer::rnn: the output or the state of a step", "the same for all sequences",
                             "a row for each");
    };
    check_rows(*net.out);
    for (auto const& memory : net.memories) check_rows(*memory.after);
    block->kernels = LoopKernels::of<R, Device>();
    block->build_backward = [](RnnBlock& b) { b.net.template build_backward<R, Device>(); };
    block->for_parts = [](void const* device, std::size_t parts,
                          std::function<void(std::size_t, void const*)> const& f) {
        if constexpr (std::is_same_v<Device, Cpu>) {
            run_parts(*static_cast<Cpu const*>(device), parts, f);
        } else {
            for (std::size_t k = 0; k < parts; ++k) f(k, device);
        }
    };
    inputs.insert(inputs.end(), net.outer.begin(), net.outer.end());
    Operator& op = outside.new_op(rnn_kernel, std::move(inputs), block);
    refused.scope = nullptr;
    layer::Recurrences<R, Device> result{Var<R, Device>(*op.outputs[before.size()]), {}};
    for (std::size_t m = 0; m < before.size(); ++m) result.last.emplace_back(*op.outputs[m]);
    return result;
}

}  // namespace rowan::inline v0::detail

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
/// with a recurrent layer of its own. Except on Cuda, batches of 64 or more sequences are split into parts of at least
/// 32, which run in parallel on the host; the parts, and so the bits of the result, do not depend on the number of
/// threads. A step with an operator that needs all sequences at once, such as dropout or sum_rows, runs as one part.
/// shapes   x [n, ...] with levels -> output [n, ...] with the same levels, last [sequences, size]
/// errors   ShapeError if x has no levels, an initial state is not a matrix, the states after a step differ in number
///          or shape from those before it, or the output or a state of a step does not have one row for each sequence;
///          ValueError if there is no such level, or a memory has no size or both a size and an initial state;
///          TypeError if the element type of an initial state differs from that of the states; when the net runs,
///          ShapeError if an initial state does not have one row for each sequence
/// cost     that of the step's operators, some of which run once for all steps; no allocation while the shapes do not
///          change; the states of all steps are kept for the gradient
template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, Memory const& memory, F const& step, RnnOptions const& options = {}) {
    using R = rowan::detail::state_t<State, T>;
    auto const made = rowan::detail::recurrence<R>(
        x, std::span(&memory, 1), options, [&](auto const& x_t, auto const& before) { return step(x_t, before[0]); });
    return Recurrence<R, Device>{made.output, made.last[0]};
}
template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, std::int64_t size, F const& step, RnnOptions const& options = {}) {
    return rnn_with_last<State>(x, Memory{.size = size}, step, options);
}

/// The same with several memories: `step(x_t, states)` takes a list of states and returns
/// `layer::Step{output, {state, ...}}`.
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
