// rowan/io/model.hpp: save_model and load_model, which store a net and its parameters in a file.
#pragma once

#include <rowan/graph/detail/device_values.hpp>
#include <rowan/io/detail/reads_programs.hpp>
#include <rowan/io/load_options.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/loaded_model.hpp>
#include <rowan/train/parameters.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

template <class Dtypes>
struct first_of;
template <class T, class... More>
struct first_of<dtypes<T, More...>> {
    using type = T;
};

struct ProgramOp;
/// The operators of Ops as to_program knows them.
template <class Ops>
std::span<ProgramOp const> operators_of();
ROWAN_IF_CALLED void save_model(std::span<ProgramOp const> operators, Variable& predict, Parameters const& parameters,
                                std::string const& path);

/// Loads the parameters of an existing net; `host` is the execution of the host's part.
/// errors   as load_model
ROWAN_IF_CALLED Parameters load_into_net(AnyExec exec, Cpu host, Variable& predict, std::string const& path);

/// load_model for any outputs; with `result`, there must be one, of its element type.
template <class Ops, class Dtypes, class Device>
LoadedNet load_net(Device const& exec, std::string const& path, LoadOptions const& options, VarSpec const* result);

/// As load_parameters, see model_parts.hpp.
template <class... T>
Parameters loaded_parameters(std::string const& path, LoadOptions const& options);

}  // namespace detail

/// Writes a checkpoint with a net, as a program, and the parameters that it depends on. Parameters are named by their
/// position in the net. A process that builds the same net can therefore load them, whatever the order in which it
/// creates its layers; any other process can load the net from the file.
/// shapes   any
/// errors   GraphError if there is no value for a parameter, or the net has an operator that is not in Ops (use
///          `save_model<forward_ops::with<my_op>>`); TypeError if a value is neither a tensor nor a
///          SelectedRows; ShapeError if a sharded table has the rows of a rank alone; IoError if the file cannot be
///          written: an existing file is then unchanged
/// cost     one write of the parameters
template <class Ops = forward_ops, class T, class Device>
void save_model(layer::Var<T, Device> const& predict, Parameters const& parameters, std::string const& path) {
    detail::check_writes_programs<Ops>();
    detail::save_model(detail::operators_of<Ops>(), *predict, parameters, path);
}

/// Writes a checkpoint with a net and its parameters, as save_model without a reader: the order of the arguments is
/// that of the design documents, and the reader is ignored.
/// shapes   any
/// errors   those of save_model without a reader
/// cost     one write of the parameters
template <class Ops = forward_ops, class T, class Device, class Reader>
void save_model(layer::Var<T, Device> const& predict, Reader const&, Parameters const& parameters,
                std::string const& path) {
    save_model<Ops>(predict, parameters, path);
}

/// Loads the parameters of an existing net. Names, element types and dims must match; operators are not compared, so
/// the parameters of a net that was trained with dropout may be loaded into one without. A device's are copied on the
/// stream of `exec`, and other streams can use them after the call.
/// shapes   as in the net
/// errors   IoError if the file cannot be read; FormatError if it is damaged; GraphError, TypeError or ShapeError if it
///          belongs to another net; on a device those of synchronize
/// cost     one read of the file, on a device a copy of the elements, which the call waits for
template <class T, device Device>
Parameters load_model(Device const& exec, layer::Var<T, Device> const& predict, std::string const& path) {
    auto parameters = detail::load_into_net(exec, detail::host_exec(exec), *predict, path);
    synchronize(exec);
    return parameters;
}
template <int = 0, class T, device Device>  // not for the template arguments of the other load_model
Parameters load_model(layer::Var<T, Device> const& predict, std::string const& path) {
    return load_model(Device{}, predict, path);
}

/// Loads a net and its parameters. The program of the file must have one output, and the element type of this output
/// must be the first one of `Dtypes`. The file may use the operators of `Ops`. Their kernels for these element types
/// become part of the calling program.
///     auto const model = load_model<forward_ops::with<my_op>, dtypes<float, mine>>("model.rowan");
/// To train the net in a header-only program, give load_model the list with_gradients<forward_ops>.
/// A loop runs while its condition holds, and an operator makes tensors of any size, unless `options.limits` bounds
/// them. A device's parameters are copied on the stream of `exec`, and other streams can use them after the call.
/// errors   IoError if the file cannot be read; FormatError if it is damaged; GraphError if it has no program or an
///          inconsistent one (see from_program), lacks a parameter or has one too many, is a delta, or several ranks
///          have saved parts of it; TypeError if an element type is not among `Dtypes`, or there is not one output of
///          the first; ShapeError if a value does not fit its variable; on a device those of synchronize
/// cost     one read of the file, except for elements that are mapped; and from_program, whose variables and operators
///          use about a kilobyte each; on a device a copy of the elements, which the call waits for
template <class Ops = forward_ops, class Dtypes = dtypes<float>, device Device>
LoadedModel<typename detail::first_of<Dtypes>::type, Device> load_model(Device const& exec, std::string const& path,
                                                                        LoadOptions const& options = {}) {
    detail::check_reads_programs<Ops, Dtypes, Device>();
    using T = typename detail::first_of<Dtypes>::type;
    VarSpec const result = tensor_spec<T>({});
    auto net = detail::load_net<Ops, Dtypes, Device>(exec, path, options, &result);
    return {std::move(net.scope), layer::Var<T, Device>(*net.outputs[0]), std::move(net.parameters)};
}
template <class Ops = forward_ops, class Dtypes = dtypes<float>, class Device = Cpu>
LoadedModel<typename detail::first_of<Dtypes>::type, Device> load_model(std::string const& path,
                                                                        LoadOptions const& options = {}) {
    return load_model<Ops, Dtypes>(Device{}, path, options);
}

/// Writes all trained values, including optimizer states and the number of steps, so that training can be resumed. Of a
/// sharded table, these are the rows of this rank: see save_parameters(comm, …).
/// errors   TypeError if a value is neither a tensor nor a SelectedRows; IoError if the file cannot be written: an
///          existing file is then unchanged
/// cost     one write of all values
void save_parameters(Parameters const& parameters, std::string const& path);

/// Loads a file that save_parameters wrote.
///     train(cost, reader, {.resume = &parameters});
/// errors   IoError if the file cannot be read; FormatError if it is damaged; GraphError if it is a delta, has no
///          number of steps, or several ranks have saved it; TypeError if an element type is not float, double or one
///          of T...
/// cost     one read of the file, except for elements that are mapped
template <class... T>
Parameters load_parameters(std::string const& path, LoadOptions const& options = {}) {
    detail::check_loads_values<T...>();
    if constexpr (detail::are_loaded_types<T...>) {
        return detail::loaded_parameters<>(path, options);
    } else {
        return detail::loaded_parameters<T...>(path, options);
    }
}

ROWAN_TEMPLATE(LoadedModel<float> load_model<forward_ops, dtypes<float>, Cpu>(std::string const&, LoadOptions const&))
ROWAN_TEMPLATE(LoadedModel<double> load_model<forward_ops, dtypes<double>, Cpu>(std::string const&, LoadOptions const&))
ROWAN_TEMPLATE(Parameters load_model(layer::Var<float> const&, std::string const&))
ROWAN_TEMPLATE(void save_model<forward_ops>(layer::Var<float> const&, Parameters const&, std::string const&))
ROWAN_TEMPLATE(Parameters load_parameters<>(std::string const&, LoadOptions const&))

}  // namespace rowan::inline v0

#include <rowan/io/model_inl.hpp>
#if !ROWAN_DECLARES_OPERATORS || defined(ROWAN_HAS_OWN_OPERATORS)
#include <rowan/io/detail/load_net.hpp>
#endif
