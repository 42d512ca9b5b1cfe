// rowan/layer/static_input.hpp: layer::static_input, a whole sequence that every step of a recurrent layer reads.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/static_input.hpp>
#include <rowan/layer/var.hpp>

namespace rowan::inline v0::layer {

/// Within the step of a recurrent layer: the sequence of an outer variable that belongs to each sequence of the step,
/// in every step the same, as Paddle's StaticInput. Attention reads the whole output of an encoder in each step of a
/// decoder:
///
///     auto out = layer::rnn(target, layer::Memory{.like = last}, [&](auto x_t, auto before) {
///         auto source = layer::static_input(encoded);   // has as many sequences as target
///         auto scores = layer::fc(layer::mul(source, layer::sequence_expand(before, source)), {.output_size = 1});
///         auto context = layer::sequence_pool(layer::mul(source, layer::sequence_softmax(scores)));
///         …
///
/// Without static_input, the step reads an outer variable as a whole: the rows of all sequences.
/// shapes   x [n, ...], whose first level has one sequence for each sequence that the layer iterates over, or x
///          [sequences, ...] -> those of the sequences that have the step, with the levels of x
/// errors   GraphError unless x is a variable of a net around the step, and if the call is in a loop or a branch;
///          ShapeError if x has rank 0; when the net runs, ShapeError if the numbers of sequences differ
/// cost     one copy of x for each batch: the steps read aliases; the gradients of the steps are added, one pass over
///          the rows of a step in each
template <class T, class Device>
Var<T, Device> static_input(Var<T, Device> const& x) {
    Scope& step = default_scope();
    Scope const* around = step.parent();
    while (around != nullptr && around != &x->scope()) around = around->parent();
    if (around == nullptr)
        throw GraphError(
            "layer::static_input: x is not a variable of a net around the step, expected the result of a "
            "layer outside the step of a recurrent layer");
    return Var<T, Device>(*step.new_op(static_kernel, {&*x}).outputs[0]);
}

}  // namespace rowan::inline v0::layer
