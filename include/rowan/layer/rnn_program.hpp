// rowan/layer/rnn_program.hpp: layer::rnn as the design documents write it, whose step is an expression of a memory and the input.
#pragma once

#include <rowan/layer/detail/step_program.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/layer/sequence_pool.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace rowan::inline v0::layer {

/// A memory of a step. Its width follows from what is added to it, its first state is zeros; after the recurrent layer was made it is the
/// state of each sequence after its last step, [sequences, width].
/// shapes   [sequences, width]
/// errors   none
/// cost     a variable in the net
template <class T = float, class Device = Cpu>
Var<T, Device> tensor() {
    return Var<T, Device>(default_scope().new_var("", tensor_spec<T>({UNK, UNK})));
}

/// Within a step: the memory plus x, which the memory is in the next step.
/// shapes   memory and x [n, width] -> [n, width]
/// errors   ShapeError if widths differ, where they are known
/// cost     one read of both and one write of the sum
template <class T, class Device>
Var<T, Device> add_to(Var<T, Device> const& memory, Var<T, Device> const& x) {
    return apply<rowan::detail::add_to_op>({}, memory, x);
}
/// nullptr stands for the step's input.
/// shapes   memory [n, width] -> [n, width]
/// errors   as above
/// cost     as above
template <class T, class Device>
Var<T, Device> add_to(Var<T, Device> const& memory, std::nullptr_t) {
    return add_to(memory, Var<T, Device>(default_scope().new_var("", tensor_spec<T>({UNK, UNK}), Role::step_input)));
}

/// The parts of layer::rnn as an expression.
template <class T = float, class Device = Cpu>
struct RnnProgram {
    Var<T, Device> input;       ///< with levels of sequences
    Var<T, Device> step_net;    ///< a row for a row of the input
    bool concat_output = true;  ///< give the rows of all steps, and not only those of the last ones
    bool reverse = false;       ///< from the ends of the sequences to their beginnings
};

/// A recurrent layer whose step is what lies between its memories and `step_net`:
///
///     auto memory = layer::tensor();
///     auto out = layer::rnn({.input = layer::fc(x, {.output_size = 100}),
///                            .step_net = layer::fc(layer::add_to(memory, nullptr), {.output_size = 100})});
///
/// shapes   input [n, width] with levels -> [n, ...] with the same levels, or [sequences, ...] without concat_output
/// errors   those of the other form; GraphError if step_net depends neither on the input nor on a memory, holds a recurrent layer, or a
///          memory that nothing is added to, or one of another layer
/// cost     as rnn_with_last
template <class T = float, class Device = Cpu>  // braces are a program of floats
Var<T, Device> rnn(RnnProgram<T, Device> const& program) {
    rowan::detail::StepProgram const step(*program.step_net);
    spec::has_levels("layer::rnn: input", program.input->spec());
    VarSpec input = program.input->spec();
    input.dims[0] = UNK;
    input.lod_level = 0;
    std::vector<Memory> memories;
    for (VarSpec const& memory : step.memory_specs(input)) memories.push_back({.size = memory.dims[1]});
    auto const made =
        rowan::detail::recurrence<T>(program.input, std::span<Memory const>(memories), {.reverse = program.reverse},
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
