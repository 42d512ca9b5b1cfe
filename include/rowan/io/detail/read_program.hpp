// rowan/io/detail/read_program.hpp: read_program, with the kernels of all operators that a program may contain.
#pragma once

#include <rowan/io/detail/former_names.hpp>
#include <rowan/io/detail/program_reader.hpp>
#include <rowan/io/from_program.hpp>
#include <rowan/io/operator_maker.hpp>

#include <vector>

namespace rowan::inline v0::detail {

template <class Ops>
struct CanReadPrograms {};

template <class Ops, class Dtypes, class Device>
std::vector<Variable*> read_program(ProgramDesc const& program, Scope& scope) {
    return [&]<class... T>(dtypes<T...>) {
        return ProgramReader<Device, T...>(with_current_names(program, Ops::names),
                                           &OperatorMaker<Ops, Device, T...>::make)
            .read(scope);
    }(Dtypes{});
}

ROWAN_TEMPLATE(std::vector<Variable*> read_program<forward_ops, dtypes<float>, Cpu>(ProgramDesc const&, Scope&))
ROWAN_TEMPLATE(std::vector<Variable*> read_program<forward_ops, dtypes<double>, Cpu>(ProgramDesc const&, Scope&))

}  // namespace rowan::inline v0::detail
