// rowan/distributed/model_inl.hpp: the functions of model.hpp.
#pragma once

#include <rowan/distributed/model.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/graph/detail/shard_rows.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/model_parts.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/sparse/partition.hpp>
#include <rowan/train/detail/table_lookups.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

/// Adds a value that is not sharded, or one with rows of a table.
inline void add_value(ShardSave& save, std::string const& name, Value const& value, Variable const* table) {
    (table != nullptr ? save.shard : save.index).add(name, entry_of(name, value));
    if (table != nullptr && table->placement != Placement()) save.placements[name] = table->placement;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE ShardSave model_save(Variable& predict, Parameters const& parameters, int rank,
                                                      int ranks) {
    name_variables(trace(std::array{&predict}));
    ShardSave save{.partition = {.ranks = ranks}};
    for (auto const& [name, v] : parameters_of(predict)) {
        Value const& value = parameters.find(v->name());
        if (v->sharded()) check_shard(*v, value, rows_of_rank(shards_of(*v, ranks), rank));
        add_value(save, name, value, v->sharded() ? v : nullptr);
    }
    return save;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE ShardSave parameters_save(Variable& net, Parameters const& parameters, int rank,
                                                           int ranks) {
    TableNames tables;
    for (auto const& t : table_lookups(net)) tables.add(t.table);
    ShardSave save{.partition = {.ranks = ranks}, .step = parameters.steps};
    for (auto const& [name, value] : parameters) {
        if (ParametersAccess::table(parameters, name) != nullptr) continue;
        Variable const* const table = tables.find(name);
        Variable const* const v = net.scope().find(name);
        if (table == nullptr && v != nullptr && v->sharded())
            throw GraphError({"save_parameters: the net does not read the sharded table ", name,
                              ": give the cost that was trained"});
        add_value(save, name, value, table);
        if (table == nullptr) continue;
        auto const own = rows_of_rank(shards_of(*table, ranks), rank);
        if (value.spec().type == VarType::SELECTED_ROWS) {
            check_shard(*table, value, own);
        } else if (value.rows() != own.size()) {
            throw ShapeError({name, ".shape(0)"}, value.rows(), {own.size(), ", the number of this rank's rows"});
        }
    }
    save.index.add("@steps", Tensor<std::int64_t>::full({1}, parameters.steps));
    return save;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<ShardRows> read_model(Variable& predict, SavedShards const& saved,
                                                                   Parameters& parameters) {
    name_variables(trace(std::array{&predict}));
    auto const expected = parameters_of(predict);
    auto const check_name = [&](std::string const& path, std::string const& name, bool sharded) {
        if (name.starts_with('@')) return;
        auto const found = expected.find(name);
        if (found != expected.end() && found->second->sharded() != sharded)
            throw GraphError(
                {path, ": ", name,
                 sharded ? " is sharded, and in this net it is whole" : " is whole, and in this net it is sharded"});
        if (found == expected.end())
            of_another_net(path, " has a parameter \"", name,
                           "\", which this net does not have: the file belongs to another net");
    };
    std::string const shard = saved.shard_path(0);
    for (auto const& name : saved.file.names()) check_name(saved.file.path(), name, false);
    for (auto const& value : saved.values()) check_name(shard, value.first, true);
    std::vector<ShardRows> all;
    for (auto const& [name, v] : expected) {
        if (v->sharded() ? !saved.values().contains(name) : !saved.file.has(name))
            of_another_net(v->sharded() ? shard : saved.file.path(), " has no parameter \"", name,
                           "\": the file belongs to another net");
        if (!v->sharded()) {
            parameters.set(v->name(), naming_file(saved.file.path(), [&, &v = *v, &name = name] {
                               return load_parameter({}, saved.file, name, v);
                           }));
            continue;
        }
        Partition const own = shards_of(*v, saved.ranks());
        Value like;
        v->initialize_rows(like, {}, std::nullopt, {});
        check_rows_fit(shard, saved.value(name, own), *v, like);
        Value value = like.with_rows(rows_of_rank(own, saved.rank()));
        all.push_back({name, own, value.row_values().elements().bytes});
        parameters.set(v->name(), std::move(value));
    }
    return all;
}

/// The same value with the rows of a rank, uninitialized: entry and memory.
inline std::span<std::byte> own_elements(CheckpointEntry& entry, Partition const& own, int rank) {
    auto const rows = static_cast<std::size_t>(own.rows_of(rank));
    std::size_t const bytes = rows * entry_row_bytes(entry);
    if (entry.desc.type == VarType::SELECTED_ROWS) {
        if (rows != 0) entry.rows = Tensor<std::int64_t>::from_values({rows}, rows_of_rank(own, rank));
    } else {
        entry.desc.lod_desc->tensor.dims[0] = static_cast<std::int64_t>(rows);
    }
    auto memory = bytes == 0 ? nullptr : std::make_shared<Storage<std::byte>>(bytes);
    std::span<std::byte> const elements(bytes == 0 ? nullptr : memory->data(), bytes);
    entry.elements = elements;
    entry.memory = std::move(memory);
    return elements;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE std::vector<ShardRows> read_parameters(Variable& net, SavedShards const& saved,
                                                                        Parameters& parameters, MakeValue const& make) {
    TableNames tables;
    for (auto const& t : table_lookups(net)) tables.add(t.table);
    std::string const path = saved.file.path(), shard = saved.shard_path(0);
    for (std::string const& name : saved.file.names()) {
        if (name != "@steps" && !TableIndex::has_name(name))
            parameters.set(name, naming_file(path, [&] { return make(path, saved.file.load(name)); }));
    }
    std::vector<ShardRows> all;
    for (auto const& value : saved.values()) {
        std::string const& name = value.first;
        Variable const* const table = tables.find(name);
        if (table == nullptr)
            of_another_net(shard, " has rows of \"", name, "\", which is no sharded table of this net");
        Partition const own = shards_of(*table, saved.ranks());
        CheckpointEntry entry = saved.value(name, own);
        all.push_back({name, own, own_elements(entry, own, saved.rank())});
        parameters.set(name, make(shard, entry));
    }
    parameters.steps = naming_file(path, [&] { return load_steps(saved.file); });
    return all;
}

}  // namespace rowan::inline v0::detail

#endif
