// rowan/io/detail/model_parts_inl.hpp: definitions of rowan/io/detail/model_parts.hpp.
#pragma once

#include <rowan/io/detail/model_parts.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/graph/detail/any_table.hpp>
#include <rowan/graph/detail/trace.hpp>

#include <array>
#include <memory>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ROWAN_RARE std::map<std::string, Variable*> parameters_of(Variable& predict) {
    std::map<std::string, Variable*> found;
    for (auto& [v, name] : names_of(trace(std::array{&predict}))) {
        if (v->role() == Role::parameter) found.emplace(std::move(name), v);
    }
    return found;
}

ROWAN_FUNCTION ROWAN_RARE CheckpointEntry entry_of(std::string name, Value const& value) {
    std::shared_ptr<Value> alias;
    try {
        alias = std::make_shared<Value>(value.on_host());
    } catch (TypeError const& e) {
        throw TypeError(name, e.actual(), e.expected());
    }
    if (alias->spec().type == VarType::SELECTED_ROWS) {
        auto const rows = alias->row_numbers();
        CheckpointEntry entry = entry_of(std::move(name), alias->row_values());
        TensorDesc tensor = entry.desc.lod_desc->tensor;
        tensor.dims[0] = alias->spec().dims[0];
        entry.desc.type = VarType::SELECTED_ROWS;
        entry.desc.lod_desc.reset();
        entry.desc.selected_rows_desc = std::move(tensor);
        entry.rows = Tensor<std::int64_t>::from_values({rows.size()}, rows);
        return entry;
    }
    auto const e = alias->elements();
    CheckpointEntry entry;
    if (!alias->lod().empty()) entry.lod = alias->lod();
    entry.desc = {.name = std::move(name),
                  .lod_desc = LodTensorDesc{{e.dtype, e.dims}, static_cast<std::int32_t>(alias->lod().levels())},
                  .persistable = true};
    entry.type_name = e.type;
    entry.element_size = e.element_size;
    entry.elements = e.bytes;
    entry.memory = std::move(alias);
    return entry;
}

ROWAN_FUNCTION ROWAN_RARE Value const& whole_value(Variable const& v, Parameters const& parameters) {
    Value const& value = parameters.find(v.name());
    if (!v.sharded()) return value;
    auto const rows = static_cast<std::int64_t>(value.row_values().rows());
    if (rows != v.spec().dims[0])
        throw ShapeError({v.name(), ".rows()"}, {rows, " rows"},
                         {v.spec().dims[0], ": those of a rank are saved by save_model(comm, …)"});
    return value;
}

ROWAN_FUNCTION ROWAN_RARE void check_rows_fit(std::string const& path, CheckpointEntry const& there, Variable const& v,
                                              Value const& like) {
    auto const what = path + ": " + there.desc.name;
    auto const& found = there.desc.selected_rows_desc;
    if (!found || found->data_type != v.spec().dtype || there.type_name != like.row_values().elements().type)
        throw TypeError(what, kind_text(there.desc, there.type_name), like.kind());
    if (spec_of(there.desc).dims != v.spec().dims)
        throw ShapeError({what, ".shape()"}, shape_text(found->dims), shape_text(v.spec().dims));
}

ROWAN_FUNCTION ROWAN_RARE Value load_rows(AnyExec exec, CheckpointFile const& file, CheckpointEntry const& there,
                                          Variable const& v, Value const& like) {
    check_rows_fit(file.path(), there, v, like);
    Value value = like.with_rows({there.rows->data(), there.rows->size()});
    value.row_values().write([&](std::span<std::byte> bytes) { file.load_into(there.desc.name, bytes); });
    if (v.bring != nullptr) v.bring(value, exec, false);
    return value;
}

ROWAN_FUNCTION ROWAN_RARE Value load_parameter(AnyExec exec, CheckpointFile const& file, std::string const& name,
                                               Variable const& v) {
    if (!v.initialize) throw GraphError({name, " is a parameter without an initial value: its type is not known"});
    Value value;
    v.initialize(value, std::nullopt, exec);
    CheckpointEntry const there = file.map(name);
    if (v.spec().type == VarType::SELECTED_ROWS) return load_rows(exec, file, there, v, value);
    auto const e = value.elements();
    auto const& found = there.desc.lod_desc;
    auto const what = file.path() + ": " + name;
    if (!found || found->tensor.data_type != e.dtype || there.type_name != e.type)
        throw TypeError(what, kind_text(there.desc, there.type_name), value.kind());
    if (!there.lod->empty()) throw ShapeError({what, ".lod().levels()"}, there.lod->levels(), "0");
    if (found->tensor.dims != e.dims)
        throw ShapeError({what, ".shape()"}, shape_text(found->tensor.dims), shape_text(e.dims));
    value.write([&](std::span<std::byte> bytes) { file.load_into(name, bytes); });
    return value;
}

ROWAN_FUNCTION ROWAN_RARE std::int64_t load_steps(CheckpointFile const& file) {
    auto const steps = file.load<Tensor<std::int64_t>>("@steps");
    if (steps.size() == 1 && steps.data()[0] >= 0) return steps.data()[0];
    throw FormatError(0, "@steps", {"is ", shape_text(steps.shape()), " of ", file.path(), ", expected one count"});
}

ROWAN_FUNCTION ROWAN_RARE Checkpoint checkpoint_of(Parameters const& parameters) {
    Checkpoint all;
    for (auto const& [name, value] : parameters) {
        if (ParametersAccess::table(parameters, name) == nullptr) all.add(name, entry_of(name, value));
    }
    all.add("@steps", Tensor<std::int64_t>::full({1}, parameters.steps));
    return all;
}

ROWAN_FUNCTION ROWAN_RARE void expect_no_shards(CheckpointFile const& file) {
    if (file.has("@shards"))
        throw GraphError({file.path(),
                          " is the index of files of several ranks: load it with the functions of "
                          "<rowan/distributed/model.hpp>, with Self{} for one process"});
}

ROWAN_FUNCTION ROWAN_RARE void expect_whole(CheckpointFile const& file) {
    expect_no_delta(file);
    expect_no_shards(file);
}

ROWAN_FUNCTION ROWAN_RARE void of_another_net(std::string const& path, char const* has, std::string const& name,
                                              char const* which) {
    throw GraphError({path, has, name, which});
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void name_net(Variable& predict) { name_variables(trace(std::array{&predict})); }

ROWAN_CALLED_FUNCTION ROWAN_RARE void add_parameters(Checkpoint& model, Variable& predict,
                                                     Parameters const& parameters) {
    for (auto const& [name, v] : parameters_of(predict)) {
        check_up_to_date(*v, parameters);
        model.add(name, entry_of(name, whole_value(*v, parameters)));
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_saves_model(Variable& predict) {
    for (auto const& [name, v] : parameters_of(predict)) {
        if (role_of(*v).kind != nullptr && role_of(*v).kind->by_keys)
            throw GraphError(
                {"save_model: ", name,
                 " is a table by keys, of which a model does not have the keys: save_parameters has them"});
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE LoadedNet read_net(CheckpointFile const& file, Limits const& limits,
                                                    std::vector<Variable*> (*read)(ProgramDesc const& program,
                                                                                   Scope& scope)) {
    expect_whole(file);
    auto const program = file.program();
    if (!program) throw GraphError({file.path(), " has no program: build the net, and load its parameters"});
    LoadedNet net{std::make_unique<Scope>(), {}, {}};
    net.scope->limits = limits;
    net.outputs = read(*program, *net.scope);
    return net;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_result(LoadedNet const& net, std::string const& path,
                                                   VarSpec const& result) {
    if (net.outputs.size() != 1 || net.outputs[0]->spec().dtype != result.dtype)
        throw TypeError({path, ": the result"}, {net.outputs.size(), " of ", kind_text(net.outputs[0]->spec())},
                        {"1 of ", kind_text(result)});
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void load_values(LoadedNet& net, CheckpointFile const& file,
                                                  std::function<Value(std::string const& name)> const& load) {
    for (std::string const& name : file.names()) {
        Variable* const v = net.scope->find(name);
        if (v == nullptr || v->role() != Role::parameter)
            of_another_net(file.path(), " has a value \"", name, "\", which is not a parameter of its program");
        net.parameters.set(name, load(name));
        check_fits(*v, net.parameters.find(name));
    }
}

ROWAN_CALLED_FUNCTION ROWAN_RARE void check_complete(LoadedNet const& net, std::string const& path) {
    for (auto const& v : net.scope->variables()) {
        if (v->role() == Role::parameter && !net.parameters.contains(v->name()))
            of_another_net(path, " has no value for \"", v->name(), "\", a parameter of its program");
    }
}

}  // namespace rowan::inline v0::detail

#endif
