// rowan/layer/rnn_program.hpp: layer::rnn in the form of Paddle's design documents, with an expression as the step.
#pragma once

#include <rowan/layer/detail/step_program.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/op/infer.hpp>

#include <cstddef>
#include <vector>

namespace rowan::inline v0::layer {

/// Creates a memory of a step. Its width is inferred from what is added to it, and its initial state is zeros. Once the
/// recurrent layer is created, it holds the state of each sequence after its last step, [sequences, width].
/// shapes   [sequences, width]
/// errors   none
/// cost     one variable in the net
template <class T = float, class Device = Cpu>
Var<T, Device> tensor() {
    return Var<T, Device>(default_scope().new_var("", tensor_spec<T>({UNK, UNK})));
}

/// Within a step, returns memory + x, which is also the memory's value in the next step.
/// shapes   memory and x [n, width] -> [n, width]
/// errors   ShapeError if the widths are known and differ
/// cost     one read of both and one write of the sum
template <class T, class Device>
Var<T, Device> add_to(Var<T, Device> const& memory, Var<T, Device> const& x) {
    return apply<add_to_op>({}, memory, x);
}
/// Within a step, returns memory + the step's input, for which nullptr stands; the sum is also the memory's value in
/// the next step.
/// shapes   memory [n, width] -> [n, width]
/// errors   ShapeError if the widths are known and differ
/// cost     one read of both and one write of the sum
template <class T, class Device>
Var<T, Device> add_to(Var<T, Device> const& memory, std::nullptr_t) {
    return add_to(memory, Var<T, Device>(default_scope().new_var("", tensor_spec<T>({UNK, UNK}), Role::step_input)));
}

/// A recurrent layer whose step is given as an expression.
template <class T = float, class Device = Cpu>
struct RnnProgram {
    Var<T, Device> input;       ///< input with levels of sequences
    Var<T, Device> step_net;    ///< output of a step, one row for each row of the step's input
    bool concat_output = true;  ///< return the rows of all steps, else those of the last steps only
    bool reverse = false;       ///< iterate from the ends of the sequences to their beginnings
};

/// A recurrent layer whose step consists of the operators that compute `step_net` from the memories and the step's
/// input, nullptr:
///
///     auto memory = layer::tensor();
///     auto out = layer::rnn({.input = layer::fc(x, {.output_size = 100}),
///                            .step_net = layer::fc(layer::add_to(memory, nullptr), {.output_size = 100})});
///
/// shapes   input [n, width] with levels -> [n, ...] with the same levels, or [sequences, ...] without concat_output
/// errors   as rnn_with_last; ShapeError if the width of a memory cannot be inferred; GraphError if step_net depends
///          neither on the step's input nor on a memory, contains a recurrent layer, a memory that nothing or more than
///          one value is added to, or a memory of another layer
/// cost     as rnn_with_last
template <class T = float, class Device = Cpu>  // the defaults are for a braced argument
Var<T, Device> rnn(RnnProgram<T, Device> const& program) {
    rowan::detail::StepProgram const step(*program.step_net);
    std::vector<Memory> const memories = step.memories_for(program.input->spec());
    auto const made =
        rowan::detail::recurrence<T>(program.input, {memories.data(), memories.size()}, {.reverse = program.reverse},
                                     [&](auto const& x_t, auto const& before) {
                                         std::vector<Variable*> states;
                                         for (auto const& state : before) states.push_back(&*state);
                                         auto const [result, next] = step.replay(*x_t, states);
                                         std::vector<Var<T, Device>> after;
                                         for (Variable* const v : next) after.emplace_back(*v);
                                         return Step<T, Device>{Var<T, Device>(*result), std::move(after)};
                                     });
    for (std::size_t m = 0; m < memories.size(); ++m)
        default_scope().write_to(*made.output->writers()[0], m, *step.memories()[m]);
    if (program.concat_output) return made.output;
    return program.reverse ? sequence_first(made.output) : sequence_last(made.output);
}
}  // namespace rowan::inline v0::layer
