// rowan/layer/detail/step_program.hpp: StepProgram, the operators of a step that a program made before it named the recurrent layer.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/rnn.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/op/add.hpp>

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Adds to a memory: the sum is what the memory holds in the next step. Its first input is the memory.
struct add_to_op : add_op {
    static constexpr std::string_view name = "add_to";
    using in_step = add_op;  ///< and in files
};

/// What lies between memories, the step's input and a result. Memories and inputs are variables that nothing writes.
class StepProgram {
public:
    /// errors   GraphError if the result depends neither on the step's input nor on a memory, or a memory is added to twice
    explicit StepProgram(Variable& result);

    std::span<Variable* const> memories() const { return memories_; }

    /// The dims that memories have, which follow from those of the input.
    /// errors   ShapeError if they do not follow, or what infer says of inputs that do not fit
    std::vector<VarSpec> memory_specs(VarSpec const& input) const;

    /// The same operators once more, in the default scope: the result, and what each memory holds in the next step.
    std::pair<Variable*, std::vector<Variable*>> replay(Variable& input, std::span<Variable* const> before) const;

private:
    Variable& result_;
    std::vector<Operator*> order_;
    std::vector<Variable*> memories_, sums_;
    std::unordered_set<Variable const*> inputs_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/layer/detail/step_program_inl.hpp>
