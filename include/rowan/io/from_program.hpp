// rowan/io/from_program.hpp: from_program, which builds a net from a program.
#pragma once

#include <rowan/graph/scope.hpp>
#include <rowan/io/detail/reads_programs.hpp>
#include <rowan/io/program_desc.hpp>

#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// As from_program, with the kernels of all operators of Ops, see read_program.hpp.
template <class Ops, class Dtypes, class Device>
std::vector<Variable*> read_program(ProgramDesc const& program, Scope& scope);

}  // namespace detail

/// Adds the operators of a program to `scope`, with the program's variable names, and returns the inputs of its fetch
/// operators, which are the outputs that `to_program` was called with. Parameters have no values. After an error the
/// contents of `scope` are incomplete and must not be used.
///     Scope scope;
///     std::vector<Variable*> outputs = from_program(program, scope);
/// A loop runs while its condition holds, and an operator makes tensors of any size: before you run a program from an
/// untrusted source, set `scope.limits`. The kernels of all operators of `Ops` for these element types become part of
/// the calling program; a file cannot use any others. To train the net in a header-only program, read it with
/// `from_program<with_gradients<forward_ops>>`: otherwise append_gradients throws a GraphError.
/// errors   GraphError if the program has an operator that is not in Ops, an attribute or variable is missing, or a
///          variable is declared differently from what its operator writes; TypeError if there is no kernel for its
///          element types; otherwise the errors of the operators' infer for inputs that do not fit
/// cost     a lookup of each operator by name, and the cost of its infer
template <class Ops = forward_ops, class Dtypes = dtypes<float>, class Device = Cpu>
std::vector<Variable*> from_program(ProgramDesc const& program, Scope& scope) {
    detail::check_reads_programs<Ops, Dtypes, Device>();
    return detail::read_program<Ops, Dtypes, Device>(program, scope);
}

}  // namespace rowan::inline v0

#if !ROWAN_DECLARES_OPERATORS || defined(ROWAN_HAS_OWN_OPERATORS)
#include <rowan/io/detail/read_program.hpp>
#endif
