// rowan/io/to_program.hpp: to_program, which converts a net to a program that can be stored.
#pragma once

#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/io/op_attributes.hpp>
#include <rowan/io/program_desc.hpp>
#include <rowan/op/forward_ops.hpp>

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// An operator that programs may contain.
struct ProgramOp {
    std::string_view name;
    bool (*is)(op_kernel const& kernel);                      ///< whether it is the operator of a kernel
    std::vector<Attribute> (*describe)(AttributesRef given);  ///< its attributes in files
};

template <class Op>
ROWAN_RARE std::vector<Attribute> described(AttributesRef given) {
    return describe_attributes(attributes_for<Op>(given));
}

template <class... Op>
constexpr std::array<ProgramOp, sizeof...(Op)> program_ops_in(registry<Op...>) {
    return {ProgramOp{declaration_of<Op>::name, [](op_kernel const& kernel) { return kernel.is<Op>(); },
                      &described<Op>}...};
}
/// Those of a registry.
template <class Ops>
inline constexpr auto program_ops_of = program_ops_in(Ops{});

/// As to_program, with the operators of a registry.
ROWAN_IF_CALLED ProgramDesc write_program(std::span<ProgramOp const> ops, std::span<Variable* const> outputs);

}  // namespace detail

/// Converts the operators that `outputs` depend on, with their attributes, to a program. The steps of recurrent layers
/// and loops become separate blocks. Operators of type feed write the data, one of type fetch reads `outputs`;
/// parameters are persistable. Variable names depend only on the net.
///     ProgramDesc const program = to_program(predict);
/// errors   GraphError if the net has an operator that is not in Ops (use `to_program<forward_ops::with<my_op>>`), or
///          one of your own with the name of another in Ops or of rowan's other operators, such as feed or rnn, or
///          reads a variable that no operator writes and that is neither data nor a parameter, or an output is written
///          by no operator
/// cost     one traversal of the net
template <class Ops = forward_ops>
ProgramDesc to_program(std::span<Variable* const> outputs) {
    return detail::write_program(detail::program_ops_of<Ops>, outputs);
}
template <class Ops = forward_ops>
ProgramDesc to_program(Variable& output) {
    return to_program<Ops>(std::array{&output});
}

}  // namespace rowan::inline v0

#include <rowan/io/to_program_inl.hpp>
