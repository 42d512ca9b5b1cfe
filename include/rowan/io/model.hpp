// rowan/io/model.hpp: save_model and load_model, which store a net and its parameters in a file.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/limits.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/from_program.hpp>
#include <rowan/io/to_program.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/sparse/detail/stored_type.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/loaded_model.hpp>
#include <rowan/train/parameters.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// How to read a file.
struct LoadOptions {
    /// Maps the parameters of a net on the host instead of reading them; their checksums are not verified: see
    /// CheckpointFile::map.
    bool map = false;
    /// For load_model of a net from an untrusted source: becomes the `limits` of the scope, which every run observes.
    ///     auto const model = load_model(path, {.limits = {.iterations = 100'000, .bytes = 1 << 30}});
    Limits limits = {};
    /// For tables that stay in the file: opens a parameter, or returns an empty value for one to be loaded. See
    /// row_stores.
    std::function<Value(CheckpointFile const& file, std::string const& name)> open = {};
};

namespace detail {

template <class Dtypes>
struct first_of;
template <class T, class... More>
struct first_of<dtypes<T, More...>> {
    using type = T;
};

/// The parameters of a net by names that depend only on the net: see names_of.
std::map<std::string, Variable*> parameters_of(Variable& predict);

/// A checkpoint entry that aliases a value, or a copy of it on the host.
/// errors   TypeError if the value is neither a tensor nor a SelectedRows
CheckpointEntry entry_of(std::string name, Value const& value);

/// The value of a parameter.
/// errors   GraphError if there is none; ShapeError if it is a sharded table without all its rows
Value const& whole_value(Variable const& v, Parameters const& parameters);

/// A variable whose element type is one of `T...` or that of what is kept for them, on the device, unless `value` has it:
/// what get gives for the type that holds it.
/// errors   TypeError if its element type is none of these; those of get
template <class Device, class... T, class Get>
Value value_of_type(Device const& exec, std::string const& path, VarDesc const& desc, Value value, Get const& get) {
    auto const attempt = [&]<class E>(std::type_identity<E>) {
        using V = LoDTensor<E>;
        using Rows = SelectedRows<E>;
        if (!value.empty()) return;
        if (desc.lod_desc && desc.lod_desc->tensor.data_type == dtype<E>::wire) {
            value.set(get(std::type_identity<V>()));
            bring<E, Device>(value, exec, false);
        } else if (desc.selected_rows_desc && desc.selected_rows_desc->data_type == dtype<E>::wire) {
            value.set(get(std::type_identity<Rows>()));
            bring_rows<E, Device>(value, exec, false);
        }
    };
    (..., attempt(std::type_identity<T>{}));
    (..., attempt(std::type_identity<kept_t<T>>{}));
    if (value.empty()) {
        auto const type = spec_of(desc).dtype;
        throw TypeError(path + ": " + desc.name, data_type_text(type),
                        is_row_type(type) ? "a table that LoadOptions::open opens, such as row_stores<float>()"
                                          : "a type among the template arguments, such as dtypes<float>");
    }
    return value;
}

/// Loads a variable.
/// errors   as value_of_type and CheckpointFile::load
template <class Device, class... T>
Value load_value(Device const& exec, CheckpointFile const& file, std::string const& name, LoadOptions const& options) {
    return value_of_type<Device, T...>(
        exec, file.path(), file.desc(name), options.open ? options.open(file, name) : Value(),
        [&]<class V>(std::type_identity<V>) { return options.map ? file.map<V>(name) : file.load<V>(name); });
}

/// errors   TypeError or ShapeError if the SelectedRows in `there`, of the file at `path`, does not fit the parameter.
///          `like` has its kind and element type
void check_rows_fit(std::string const& path, CheckpointEntry const& there, Variable const& v, Value const& like);

/// Loads the SelectedRows in `there` for a parameter.
/// errors   as check_rows_fit and CheckpointFile::load_into
Value load_rows(AnyExec exec, CheckpointFile const& file, CheckpointEntry const& there, Variable const& v,
                Value const& like);

/// Loads a parameter that exists in a net.
/// errors   TypeError or ShapeError if the file's does not fit; GraphError if its type is not known; as
///          CheckpointFile::load_into
Value load_parameter(AnyExec exec, CheckpointFile const& file, std::string const& name, Variable const& v);

/// The number of steps that save_parameters has written.
/// errors   GraphError if there is none; FormatError if it is not one
std::int64_t load_steps(CheckpointFile const& file);

/// What save_parameters writes.
/// errors   TypeError if a value is neither a tensor nor a SelectedRows
Checkpoint checkpoint_of(Parameters const& parameters);

/// errors   GraphError if ranks have saved parts of it
void expect_no_shards(CheckpointFile const& file);
/// errors   GraphError if the file is a delta, or ranks have saved parts of it
void expect_whole(CheckpointFile const& file);

[[noreturn]] void of_another_net(std::string const& path, char const* has, std::string const& name, char const* which);

/// Loads the parameters of an existing net; `host` is the execution of the host's part.
/// errors   as load_model
ROWAN_IF_CALLED Parameters load_into_net(AnyExec exec, Cpu host, Variable& predict, std::string const& path);

/// A checkpoint with the parameters of a net, but without its program, for which the net's variables get names.
/// errors   GraphError if there is no value for a parameter; ShapeError and TypeError as save_model
ROWAN_IF_CALLED void add_parameters(Checkpoint& model, Variable& predict, Parameters const& parameters);
ROWAN_IF_CALLED void name_net(Variable& predict);

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
    detail::name_net(*predict);
    Checkpoint model;
    model.program = to_program<Ops>(*predict);
    detail::add_parameters(model, *predict, parameters);
    save_checkpoint(model, path);
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

namespace detail {

/// A net and its parameters, with outputs of any types.
struct LoadedNet {
    std::unique_ptr<Scope> scope;
    std::vector<Variable*> outputs;
    Parameters parameters;
};

/// errors   TypeError if there is not one output, of the element type of `result`
ROWAN_IF_CALLED void check_result(LoadedNet const& net, std::string const& path, VarSpec const& result);

/// Sets the parameters that the file has to what `load` returns.
/// errors   GraphError if the net lacks one; TypeError or ShapeError if a value does not fit
ROWAN_IF_CALLED void load_values(LoadedNet& net, CheckpointFile const& file,
                                 std::function<Value(std::string const& name)> const& load);

/// errors   GraphError if a parameter has no value
ROWAN_IF_CALLED void check_complete(LoadedNet const& net, std::string const& path);

/// load_model for any outputs; with `result`, there must be one, of its element type.
template <class Ops, class Dtypes, class Device>
LoadedNet load_net(Device const& exec, std::string const& path, LoadOptions const& options, VarSpec const* result) {
    CheckpointFile const file(host_exec(exec), path);
    expect_whole(file);
    auto const program = file.program();
    if (!program) throw GraphError(path + " has no program: build the net, and load its parameters");
    LoadedNet net{std::make_unique<Scope>(), {}, {}};
    net.scope->limits = options.limits;
    net.outputs = from_program<Ops, Dtypes, Device>(*program, *net.scope);
    if (result != nullptr) check_result(net, path, *result);
    load_values(net, file, [&](std::string const& name) {
        return [&]<class... T>(dtypes<T...>) { return load_value<Device, T...>(exec, file, name, options); }(Dtypes{});
    });
    synchronize(exec);
    check_complete(net, path);
    return net;
}

ROWAN_TEMPLATE(LoadedNet load_net<forward_ops, dtypes<float>, Cpu>(Cpu const&, std::string const&, LoadOptions const&,
                                                                   VarSpec const*))
ROWAN_TEMPLATE(LoadedNet load_net<forward_ops, dtypes<double>, Cpu>(Cpu const&, std::string const&, LoadOptions const&,
                                                                    VarSpec const*))

}  // namespace detail

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
    CheckpointFile const file(path);
    detail::expect_whole(file);
    Parameters parameters;
    for (std::string const& name : file.names()) {
        if (name != "@steps")
            parameters.set(name, detail::load_value<Cpu, float, double, T...>(Cpu{}, file, name, options));
    }
    parameters.steps = detail::load_steps(file);
    return parameters;
}

ROWAN_TEMPLATE(LoadedModel<float> load_model<forward_ops, dtypes<float>, Cpu>(std::string const&, LoadOptions const&))
ROWAN_TEMPLATE(LoadedModel<double> load_model<forward_ops, dtypes<double>, Cpu>(std::string const&, LoadOptions const&))
ROWAN_TEMPLATE(Parameters load_model(layer::Var<float> const&, std::string const&))
ROWAN_TEMPLATE(void save_model<forward_ops>(layer::Var<float> const&, Parameters const&, std::string const&))
ROWAN_TEMPLATE(Parameters load_parameters<>(std::string const&, LoadOptions const&))

}  // namespace rowan::inline v0

#include <rowan/io/model_inl.hpp>
