// rowan/io/detail/load_net.hpp: load_net, with the kernels of all operators that a net in a file may contain.
#pragma once

#include <rowan/io/detail/model_parts.hpp>
#include <rowan/io/detail/read_program.hpp>
#include <rowan/io/load_options.hpp>
#include <rowan/io/to_program.hpp>

#include <span>
#include <string>

namespace rowan::inline v0::detail {

template <class Ops, class Dtypes, class Device>
LoadedNet load_net(Device const& exec, std::string const& path, LoadOptions const& options, VarSpec const* result) {
    CheckpointFile const file(host_exec(exec), path);
    auto net = read_net(file, options.limits, &read_program<Ops, Dtypes, Device>);
    if (result != nullptr) check_result(net, path, *result);
    load_values(net, file, [&](std::string const& name) {
        return [&]<class... T>(dtypes<T...>) { return load_value<Device, T...>(exec, file, name, options); }(Dtypes{});
    });
    synchronize(exec);
    check_complete(net, path);
    return net;
}

template <class Ops>
std::span<ProgramOp const> operators_of() {
    return program_ops_of<Ops>;
}

ROWAN_TEMPLATE(LoadedNet load_net<forward_ops, dtypes<float>, Cpu>(Cpu const&, std::string const&, LoadOptions const&,
                                                                   VarSpec const*))
ROWAN_TEMPLATE(LoadedNet load_net<forward_ops, dtypes<double>, Cpu>(Cpu const&, std::string const&, LoadOptions const&,
                                                                    VarSpec const*))
ROWAN_TEMPLATE(std::span<ProgramOp const> operators_of<forward_ops>())

}  // namespace rowan::inline v0::detail
