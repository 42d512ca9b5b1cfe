// rowan/layer/detail/step_program.hpp: StepProgram, the operators of a step, created before the recurrent layer.
#pragma once

#include <rowan/detail/owner.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/layer/memory.hpp>
#include <rowan/op/var_spec.hpp>

#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

struct StepParts;
ROWAN_IF_CALLED void destroy(StepParts* parts) noexcept;

/// The operators that compute a result from memories and the step's input, which are variables that no operator writes.
class StepProgram {
public:
    /// errors   GraphError if the result depends neither on the step's input nor on a memory, a memory is added to
    ///          twice, not at all or belongs to another layer, or an operator is a recurrent layer
    ROWAN_IF_CALLED explicit StepProgram(Variable& result);

    ROWAN_IF_CALLED std::span<Variable* const> memories() const;

    /// The memories of a recurrent layer with this input, whose widths follow from it.
    /// errors   ShapeError if the input has no levels, or the width of a memory cannot be inferred; what an operator's
    ///          `infer` throws
    ROWAN_IF_CALLED std::vector<layer::Memory> memories_for(VarSpec input) const;

    /// Adds copies of the operators to the default scope. Returns the result, and the value of each memory in the next
    /// step.
    ROWAN_IF_CALLED std::pair<Variable*, std::vector<Variable*>> replay(Variable& input,
                                                                        std::span<Variable* const> before) const;

private:
    Owner<StepParts> parts_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/layer/detail/step_program_inl.hpp>
