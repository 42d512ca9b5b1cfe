// rowan/graph/detail/trace.hpp: trace, the operators of a net in topological order, and names of variables.
#pragma once

#include <rowan/graph/scope.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// The name, such as "fc_0.out_0", or a description of a variable without a name.
ROWAN_IF_CALLED std::string describe(Variable const& v);

/// The variables of an operator in slot k of `slots`. Each slot holds one variable, except that the first one also
/// holds all surplus variables.
ROWAN_IF_CALLED std::span<Variable* const> in_slot(std::vector<Variable*> const& variables, std::size_t slots,
                                                   std::size_t k);

/// The operator's row inputs for the specs of its inputs, see row_inputs_of.
ROWAN_IF_CALLED unsigned row_inputs(Operator const& op);

/// Whether its results are sums over rows, see sums_rows_of.
ROWAN_IF_CALLED bool sums_rows(Operator const& op);

/// Calls f(input, result) for each input that the value of a result replaces after a step of training.
template <class F>
void each_next(Operator const& op, F const& f) {
    for (std::size_t k = 0; k < op.kernel->next.size(); ++k) {
        if (int const at = op.kernel->next[k]; at >= 0)
            f(*in_slot(op.inputs, op.kernel->inputs.size(), k)[0],
              *in_slot(op.outputs, op.kernel->outputs.size(), static_cast<std::size_t>(at))[0]);
    }
}

/// Calls f for each input that an operator, or an operator of its net, reads. See op_kernel::each_read.
ROWAN_IF_CALLED void each_read(Operator const& op, OutsideOf const& outside, ReadVisitor const& f);

/// Whether there are gradients and all are row-sparse, in which case their sum is row-sparse, too.
ROWAN_IF_CALLED bool all_row_sparse(std::span<Variable* const> gradients);

/// All operators that `targets` depend on, each once, in topological order: a depth-first traversal that follows inputs
/// in order. With `within`, writers of variables of other scopes are omitted.
/// errors   GraphError if there is a cycle; the text names the operators of the cycle
ROWAN_IF_CALLED std::vector<Operator*> trace(std::span<Variable* const> targets, Scope const* within = nullptr);

/// Whether it is a memory or the input of a step, to which a recurrent layer that is created later assigns a value.
ROWAN_IF_CALLED bool is_placeholder(Variable const& v);
ROWAN_IF_CALLED bool depends_on_placeholder(Variable& v);

/// The names of the variables of a net: the name set by the program, else "fc_0.w_0" for the input w of the first fc
/// and "fc_0.out_0" for its result; "rnn_0.fc_0.w_0" for the input w of the first fc in the step of the first rnn. They
/// depend only on the net, not on the order in which a program created the operators.
ROWAN_IF_CALLED std::vector<std::pair<Variable*, std::string>> names_of(std::span<Operator* const> order);

/// Applies names_of to the unnamed variables of an inner scope. Returns the names that variables of outer scopes have
/// in the inner net, from which the outer net makes theirs: "rnn_0.fc_0.w_0".
ROWAN_IF_CALLED std::vector<std::string> name_inner_variables(std::span<Operator* const> order, Scope& scope,
                                                              std::span<Variable* const> outer);

/// Applies names_of to unnamed variables. If the scope already has a name, "~1", "~2" etc. is appended. Several threads
/// may do so at the same time.
ROWAN_IF_CALLED void name_variables(std::span<Operator* const> order);

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/trace_inl.hpp>
