// rowan/io/from_program.hpp: from_program, which builds a net from a program.
#pragma once

#include <rowan/io/detail/former_names.hpp>
#include <rowan/io/detail/program_reader.hpp>
#include <rowan/io/operator_maker.hpp>
#include <rowan/op/builtin_ops.hpp>
#include <rowan/train/optimizer.hpp>

#include <vector>

namespace rowan::inline v0 {

/// Adds the operators of a program to `scope`, with the program's variable names, and returns the inputs of its fetch
/// operators, which are the outputs that `to_program` was called with. Parameters have no values. After an error the
/// contents of `scope` are incomplete and must not be used.
///     Scope scope;
///     std::vector<Variable*> outputs = from_program(program, scope);
/// A loop runs while its condition holds, and an operator makes tensors of any size: before you run a program from an
/// untrusted source, set `scope.limits`. The kernels of all operators of `Ops` for these element types become part of
/// the calling program; a file cannot use any others.
/// errors   GraphError if the program has an operator that is not in Ops, an attribute or variable is missing, or a
///          variable is declared differently from what its operator writes; TypeError if there is no kernel for its
///          element types; otherwise the errors of the operators' infer for inputs that do not fit
/// cost     a lookup of each operator by name, and the cost of its infer
template <class Ops = forward_ops, class Dtypes = dtypes<float>, class Device = Cpu>
std::vector<Variable*> from_program(ProgramDesc const& program, Scope& scope) {
    return [&]<class... T>(dtypes<T...>) {
        return detail::ProgramReader<Device, T...>(detail::with_current_names(program, Ops::names),
                                                   &detail::OperatorMaker<Ops, Device, T...>::make)
            .read(scope);
    }(Dtypes{});
}

ROWAN_TEMPLATE(std::vector<Variable*> from_program<forward_ops, dtypes<float>, Cpu>(ProgramDesc const&, Scope&))

}  // namespace rowan::inline v0
