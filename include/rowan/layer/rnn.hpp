// rowan/layer/rnn.hpp: layer::rnn, a step of layers run over the steps of sequences.
#pragma once

#include <rowan/graph/rnn.hpp>
#include <rowan/layer/parameter.hpp>
#include <rowan/layer/var.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// A variable of any element type.
class AnyVar {
public:
    AnyVar() = default;
    template <class T, class Device>
    AnyVar(Var<T, Device> const& v) : variable_(&*v) {}
    Variable* get() const noexcept { return variable_; }

private:
    Variable* variable_ = nullptr;
};

/// The state of a recurrent layer: zeros of a size before the first step, or a row for each sequence, such as the last state of another
/// layer: `Memory{.size = 64}`, `Memory{.like = last}`.
struct Memory {
    std::int64_t size = 0;
    AnyVar like = {};
};

/// What a step makes: a row of the result, and the state for the next step.
template <class T, class Device>
struct Step {
    Var<T, Device> output;
    Var<T, Device> memory;
};
template <class T, class Device>
Step(Var<T, Device>, Var<T, Device>) -> Step<T, Device>;

/// What a recurrent layer gives: a row for each row of its input, with the input's levels, and for each sequence the state after its end.
template <class T, class Device>
struct Recurrence {
    Var<T, Device> output;
    Var<T, Device> last;
};

/// Runs `step(x_t, before)` for every step of the sequences of the last level of x, longest sequences first, so that no time is spent on
/// padding, and gives outputs in the order of the input. What of the step needs only x is computed for all steps at once, and so are the
/// gradients of its weights; the gradient of a table that is looked up in the step stays row-sparse.
///
///     auto [h, last] = layer::rnn_with_last(x, layer::Memory{.size = 64}, [&](auto x_t, auto before) {
///         auto now = layer::gru_unit(x_t, before, {.size = 64});
///         return layer::Step{now, now};
///     });
///
/// shapes   x [n, ...] with levels -> output [n, ...] with the same levels, last [sequences, size]
/// errors   ShapeError if x has no levels or the state after a step has another shape; a batch without any step is a ShapeError
template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, Memory const& memory, F const& step) {
    Scope& outside = default_scope();
    auto const block = std::make_shared<RnnBlock>();
    auto& net = block->net;
    block->scope = std::make_unique<Scope>(outside);
    net.scope = block->scope.get();
    Variable* const boot = memory.like.get();
    if (boot != nullptr) spec::matrix("layer::rnn: memory", boot->spec());
    std::int64_t const size = boot == nullptr ? memory.size : boot->spec().dims[1];
    spec::has_levels("layer::rnn: x", x->spec());
    VarSpec x_t = x->spec();
    x_t.lod_level = 0;
    x_t.dims[0] = UNK;
    // of the state and the result: the type of x where that has fractions, else float, unless it is named
    using R = std::conditional_t<!std::is_void_v<State>, State, std::conditional_t<std::is_integral_v<T>, float, T>>;
    auto const step_x = Var<T, Device>(net.scope->new_var("x", x_t));
    auto const before = Var<R, Device>(net.scope->new_var("before", tensor_spec<R>({UNK, size})));
    auto const made = [&] {
        ScopeGuard const guard(*net.scope);
        return step(step_x, before);
    }();
    net.x = &*step_x;
    net.before = &*before;
    net.out = &*made.output;
    net.after = &*made.memory;
    if (!(made.memory->spec().dims == Dims{UNK, size}))
        throw ShapeError(
            "layer::rnn: the width of the state after a step",
            made.memory->spec().dims.size() == 2 ? std::to_string(made.memory->spec().dims[1]) : "no number",
            std::to_string(size));
    net.build();
    auto const has_rows = [&](Variable const* v) {
        return net.rows.contains(v) && !v->spec().dims.empty() && v->spec().dims[0] == UNK;
    };
    if (!has_rows(net.out) || !has_rows(net.after))
        throw ShapeError("layer::rnn: the output or the state of a step", "the same for all sequences",
                         "a row for each");
    block->level = x->spec().lod_level - 1;
    block->has_boot = boot != nullptr;
    block->state = {size};
    block->zeros = [](std::size_t rows, std::vector<std::int64_t> const& dims) {
        typename Tensor<R, Device>::shape_type shape;
        shape.push_back(rows);
        for (std::int64_t const dim : dims) shape.push_back(static_cast<std::size_t>(dim));
        Value value;
        value.set(LoDTensor<R, Device>(Tensor<R, Device>::zeros(shape)));
        return value;
    };
    block->sum = &code_of<sum_op, Device, R>::value;
    block->fill_like = &code_of<fill_like_op, Device, R>::value;
    block->build_backward = [](RnnBlock& b) { b.net.template build_backward<R, Device>(); };
    std::vector<Variable*> inputs{&*x};
    if (boot != nullptr) inputs.push_back(boot);
    inputs.insert(inputs.end(), net.outer.begin(), net.outer.end());
    Operator& op = outside.new_op(rnn_code, std::move(inputs), block);
    return Recurrence<R, Device>{Var<R, Device>(*op.outputs[0]), Var<R, Device>(*op.outputs[1])};
}

template <class State = void, class T, class Device, class F>
auto rnn_with_last(Var<T, Device> const& x, std::int64_t size, F const& step) {
    return rnn_with_last<State>(x, Memory{.size = size}, step);
}

/// The outputs alone.
template <class State = void, class T, class Device, class F>
auto rnn(Var<T, Device> const& x, Memory const& memory, F const& step) {
    return rnn_with_last<State>(x, memory, step).output;
}
template <class State = void, class T, class Device, class F>
auto rnn(Var<T, Device> const& x, std::int64_t size, F const& step) {
    return rnn_with_last<State>(x, Memory{.size = size}, step).output;
}

}  // namespace rowan::inline v0::layer
