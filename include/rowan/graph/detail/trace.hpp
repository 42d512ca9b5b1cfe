// rowan/graph/detail/trace.hpp: the operators that variables depend on, in an order in which they can run.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/graph/scope.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// "fc_0.out", or what the variable is as long as it has no name.
inline std::string describe(Variable const& v) {
    if (!v.name().empty()) return v.name();
    return v.role() == Role::parameter ? "a parameter" : "a result without a name";
}

/// Of the variables of an operator those in slot k of so many: one each, but that the first slot holds all that are more.
inline std::span<Variable* const> in_slot(std::vector<Variable*> const& variables, std::size_t slots, std::size_t k) {
    std::size_t const first = variables.size() - slots + 1;  // as many are in the first one
    return k == 0 ? std::span(variables).first(first) : std::span(variables).subspan(first + k - 1, 1);
}

/// The writers of `targets`, those of what they read, and so on: each once, after all whose results it reads, in the order of inputs.
/// With `within`, writers of variables of other scopes are left out.
/// errors   GraphError if an operator needs its own result, naming the operators of the cycle
std::vector<Operator*> trace(std::span<Variable* const> targets, Scope const* within = nullptr);

/// Is it a memory or the input of a step, which a recurrent layer that is made later gives a value?
inline bool is_placeholder(Variable const& v) {
    return v.writers().empty() && (v.role() == Role::temporary || v.role() == Role::step_input);
}
bool depends_on_placeholder(Variable& v);

/// Names of the variables of a net that follow from the net alone: those that a program gave, else "fc_0.w_0" for the input w of the first
/// fc and "fc_0.out_0" for its result. They do not depend on the order in which a program made the operators.
std::vector<std::pair<Variable*, std::string>> names_of(std::span<Operator* const> order);

/// Gives these names to variables of an inner scope that have none: what belongs to the net outside gets its name there.
void name_inner_variables(std::span<Operator* const> order, Scope& scope);

/// Gives these names to variables that have none; a number is added where the scope has the name already.
void name_variables(std::span<Operator* const> order);

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/trace_inl.hpp>
