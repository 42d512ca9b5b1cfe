// rowan/io/detail/model_parts.hpp: the parameters of a net in files, and the values that they become.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/detail/arithmetic.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/load_options.hpp>
#include <rowan/io/program_desc.hpp>
#include <rowan/sparse/detail/stored_type.hpp>
#include <rowan/train/detail/feed.hpp>
#include <rowan/train/parameters.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace rowan::inline v0::detail {

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
        throw TypeError({path, ": ", desc.name}, data_type_text(type),
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

/// A checkpoint with the parameters of a net, but without its program, for which the net's variables get names.
/// errors   GraphError if there is no value for a parameter; ShapeError and TypeError as save_model
ROWAN_IF_CALLED void add_parameters(Checkpoint& model, Variable& predict, Parameters const& parameters);
ROWAN_IF_CALLED void name_net(Variable& predict);
/// errors   GraphError if the net has a table by keys
ROWAN_IF_CALLED void check_saves_model(Variable& predict);

/// errors   TypeError if there is not one output, of the element type of `result`
ROWAN_IF_CALLED void check_result(LoadedNet const& net, std::string const& path, VarSpec const& result);

/// Sets the parameters that the file has to what `load` returns.
/// errors   GraphError if the net lacks one; TypeError or ShapeError if a value does not fit
ROWAN_IF_CALLED void load_values(LoadedNet& net, CheckpointFile const& file,
                                 std::function<Value(std::string const& name)> const& load);

/// errors   GraphError if a parameter has no value
ROWAN_IF_CALLED void check_complete(LoadedNet const& net, std::string const& path);

/// A net without its parameters.
/// errors   GraphError if the file has no program; those of `read`
ROWAN_IF_CALLED LoadedNet read_net(CheckpointFile const& file, Limits const& limits,
                                   std::vector<Variable*> (*read)(ProgramDesc const& program, Scope& scope));

/// Complete where values of all element types can be loaded.
template <class... T>
struct CanLoadValues {};

template <class... T>
Parameters loaded_parameters(std::string const& path, LoadOptions const& options) {
    CheckpointFile const file(path);
    expect_whole(file);
    Parameters parameters;
    for (std::string const& name : file.names()) {
        if (name == "@steps") continue;
        parameters.set(name, is_table_part(name, spec_of(file.desc(name)).dtype)
                                 ? load_value<Cpu, std::int64_t, std::uint8_t>(Cpu{}, file, name, {})
                                 : load_value<Cpu, float, double, T...>(Cpu{}, file, name, options));
    }
    parameters.steps = load_steps(file);
    return parameters;
}

ROWAN_TEMPLATE(Parameters loaded_parameters<>(std::string const&, LoadOptions const&))

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/model_parts_inl.hpp>
