// rowan/io/model_inl.hpp: definitions of rowan/io/model.hpp.
#pragma once

#include <rowan/io/model.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/detail/load_net.hpp>
#include <rowan/io/detail/model_parts.hpp>
#include <rowan/io/to_program.hpp>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ROWAN_RARE void save_model(std::span<ProgramOp const> operators, Variable& predict,
                                                 Parameters const& parameters, std::string const& path) {
    name_net(predict);
    check_saves_model(predict);
    Checkpoint model;
    model.program = write_program(operators, std::array{&predict});
    add_parameters(model, predict, parameters);
    save_checkpoint(model, path);
}

ROWAN_CALLED_FUNCTION ROWAN_RARE Parameters load_into_net(AnyExec exec, Cpu host, Variable& predict,
                                                          std::string const& path) {
    CheckpointFile const file(host, path);
    expect_whole(file);
    name_net(predict);
    auto const expected = parameters_of(predict);
    for (std::string const& name : file.names()) {
        if (!expected.contains(name))
            of_another_net(path, " has a parameter \"", name,
                           "\", which this net does not have: the file belongs to another net");
    }
    Parameters parameters;
    for (auto const& [name, v] : expected) {
        if (!file.has(name)) of_another_net(path, " has no parameter \"", name, "\": the file belongs to another net");
        parameters.set(v->name(), load_parameter(exec, file, name, *v));
    }
    return parameters;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE void save_parameters(Parameters const& parameters, std::string const& path) {
    save_checkpoint(detail::checkpoint_of(parameters), path);
}

}  // namespace rowan::inline v0

#endif
