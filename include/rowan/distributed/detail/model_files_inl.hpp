// rowan/distributed/detail/model_files_inl.hpp: the functions of model_files.hpp.
#pragma once

#include <rowan/distributed/detail/model_files.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/detail/shards.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/io/model.hpp>
#include <rowan/sparse/partition.hpp>
#include <rowan/train/detail/table_lookups.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION SavePlace::SavePlace(std::string const& path) {
    std::filesystem::path const whole(path);
    folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
    name = whole.filename().string();
}

/// Adds a value that is not sharded, or one with rows of a table.
inline void add_value(ShardSave& save, std::string const& name, Value const& value, Variable const* table) {
    (table != nullptr ? save.shard : save.index).add(name, entry_of(name, value));
    if (table != nullptr && table->placement != Placement()) save.placements[name] = table->placement;
}

ROWAN_FUNCTION ShardSave model_save(Variable& predict, Parameters const& parameters, int rank, int ranks) {
    name_variables(trace(std::array{&predict}));
    ShardSave save{.partition = {.ranks = ranks}};
    for (auto const& [name, v] : parameters_of(predict)) {
        Value const& value = parameters.find(v->name());
        if (v->sharded()) check_shard(*v, value, rows_of_rank(shards_of(*v, ranks), rank));
        add_value(save, name, value, v->sharded() ? v : nullptr);
    }
    return save;
}

/// The table of which a name is that of the table or of a state, or nullptr.
inline Variable* table_of(std::span<TableLookups const> tables, std::string const& name) {
    auto const at = std::ranges::find_if(tables, [&](TableLookups const& t) { return belongs_to(name, *t.table); });
    return at == tables.end() ? nullptr : at->table;
}

ROWAN_FUNCTION ShardSave parameters_save(Variable& net, Parameters const& parameters, int rank, int ranks) {
    auto const tables = table_lookups(net);
    ShardSave save{.partition = {.ranks = ranks}, .step = parameters.steps};
    for (auto const& [name, value] : parameters) {
        Variable const* const table = table_of(tables, name);
        Variable const* const v = net.scope().find(name);
        if (table == nullptr && v != nullptr && v->sharded())
            throw GraphError(std::string("save_parameters: the net does not read the sharded table ")
                                 .append(name)
                                 .append(": give the cost that was trained"));
        add_value(save, name, value, table);
        if (table == nullptr) continue;
        auto const own = rows_of_rank(shards_of(*table, ranks), rank);
        if (value.spec().type == VarType::SELECTED_ROWS) {
            check_shard(*table, value, own);
        } else if (value.rows() != own.size()) {
            throw ShapeError(std::string(name).append(".shape(0)"), std::to_string(value.rows()),
                             std::to_string(own.size()).append(", the number of this rank's rows"));
        }
    }
    save.index.add("@steps", Tensor<std::int64_t>::full({1}, parameters.steps));
    return save;
}

ROWAN_FUNCTION SavedShards::SavedShards(std::string const& path, int rank, int ranks)
    : file(open_saved(path)), index(naming_file(path, [&] { return TableIndex(file); })), rank_(rank), ranks_(ranks) {
    SavePlace const place(path);
    for (int r = 0; r < index.partition.ranks; ++r) shards.push_back(open_shard(index, place.folder, place.name, r));
}

/// The rows that a file of a save has, as a tensor.
inline Value shard_elements(CheckpointFile const& file, std::string const& name, Partition const& partition, int rank,
                            Value const& value) {
    auto const wrong = [&](char const* what) { return FormatError(0, file.path() + ": " + name, what); };
    if (value.spec().type != VarType::SELECTED_ROWS) {
        if (value.rows() != static_cast<std::size_t>(partition.rows_of(rank)))
            throw wrong("has too many or too few rows");
        return value.share();
    }
    check_height(file.path() + ": " + name, {.height = value.spec().dims[0]}, partition);
    if (value.row_numbers() != rows_of_rank(partition, rank)) throw wrong("has other rows than its index says");
    return value.row_values();
}

ROWAN_FUNCTION Value SavedShards::rows(Variable const& table, std::string const& name, LoadValue const& load) const {
    Partition const own = shards_of(table, ranks_), from = index.partition_of(name, own.height);
    std::vector<Value> parts;
    std::vector<std::int64_t> at(static_cast<std::size_t>(own.rows_of(rank_)));  // in all parts
    std::int64_t taken = 0;
    Value like;  // a SelectedRows, if it is a table
    for (int r = 0; r < from.ranks; ++r) {
        std::vector<std::int64_t> some;
        each_run(own, rank_, from, [&](std::int64_t i, std::int64_t row, std::int64_t n) {
            if (from.owner(row) != r) return;
            for (std::int64_t k = 0; k < n; ++k) {
                at[static_cast<std::size_t>(i + k)] = taken++;
                some.push_back(from.local(row) + k);
            }
        });
        if (some.empty() && r != 0) continue;  // the first tells the element type
        auto const& shard = shards[static_cast<std::size_t>(r)];
        if (!shard.has(name)) throw FormatError(0, shard.path(), std::string("has no `").append(name).append("`"));
        Value const value = naming_file(shard.path(), [&] { return load(shard, name); });
        parts.push_back(shard_elements(shard, name, from, r, value).gather(Cpu{}, some));
        if (value.spec().type == VarType::SELECTED_ROWS) like = value.with_rows({});
    }
    std::vector<Value*> all;
    for (Value& part : parts) all.push_back(&part);
    Value joined = Value::concat(Cpu{}, all);
    if (like.empty()) return joined.gather(Cpu{}, at);
    auto const elements = joined.elements().bytes;
    std::size_t const bytes = at.empty() ? 0 : elements.size() / at.size();
    return with_bytes(Cpu{1}, like, rows_of_rank(own, rank_),
                      PlacesOfRows<std::byte const>{elements.data(), at.data(), bytes});
}

ROWAN_FUNCTION Parameters read_model(Variable& predict, SavedShards const& saved) {
    name_variables(trace(std::array{&predict}));
    auto const expected = parameters_of(predict);
    auto const check_names = [&](CheckpointFile const& file, bool sharded) {
        for (std::string const& name : file.names()) {
            if (name.starts_with('@')) continue;
            auto const found = expected.find(name);
            if (found != expected.end() && found->second->sharded() != sharded)
                throw GraphError(std::string(file.path())
                                     .append(": ")
                                     .append(name)
                                     .append(sharded ? " is sharded, and in this net it is whole"
                                                     : " is whole, and in this net it is sharded"));
            if (found == expected.end())
                of_another_net(file, " has a parameter \"", name,
                               "\", which this net does not have: the file belongs to another net");
        }
    };
    check_names(saved.file, false);
    check_names(saved.shards[0], true);
    Parameters parameters;
    for (auto const& [name, v] : expected) {
        CheckpointFile const& file = v->sharded() ? saved.shards[0] : saved.file;
        if (!file.has(name)) of_another_net(file, " has no parameter \"", name, "\": the file belongs to another net");
        auto const load = [&, &v = *v](CheckpointFile const& shard, std::string const& key) {
            Value like;
            v.initialize_rows(like, {}, std::nullopt, {});
            return load_rows(shard, shard.map(key), v, like);
        };
        auto const read = [&, &v = *v, &name = name] {
            return v.sharded() ? saved.rows(v, name, load) : load_parameter(saved.file, name, v);
        };
        parameters.set(v->name(), naming_file(saved.file.path(), read));
    }
    return parameters;
}

ROWAN_FUNCTION Parameters read_parameters(Variable& net, SavedShards const& saved, LoadValue const& load) {
    auto const tables = table_lookups(net);
    Parameters parameters;
    for (std::string const& name : saved.file.names()) {
        if (name != "@steps" && !TableIndex::has_name(name))
            parameters.set(name, naming_file(saved.file.path(), [&] { return load(saved.file, name); }));
    }
    for (std::string const& name : saved.shards[0].names()) {
        Variable const* const table = table_of(tables, name);
        if (table == nullptr)
            of_another_net(saved.shards[0], " has rows of \"", name, "\", which is no sharded table of this net");
        parameters.set(name, saved.rows(*table, name, load));
    }
    parameters.steps = naming_file(saved.file.path(), [&] { return load_steps(saved.file); });
    return parameters;
}

}  // namespace rowan::inline v0::detail

#endif
