// rowan/distributed/detail/model_files.hpp: what ranks save of a net, and read.
#pragma once

#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/distributed/detail/table_index.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/train/parameters.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// The folder and the name of a file.
struct SavePlace {
    explicit SavePlace(std::string const& path);
    std::string folder, name;
};

/// The parameters of a net by names that depend only on the net.
/// errors   GraphError if one is missing; ShapeError if a table does not have this rank's rows
ShardSave model_save(Variable& predict, Parameters const& parameters, int rank, int ranks);
/// All values by their names, and the number of steps.
/// errors   as above; ShapeError if a state does not have a row for each of its table
ShardSave parameters_save(Variable& net, Parameters const& parameters, int rank, int ranks);

using LoadValue = std::function<Value(CheckpointFile const& file, std::string const& name)>;

/// The files of a save, for one of the ranks that load it.
class SavedShards {
public:
    /// errors   FormatError if one is missing, damaged or of another save
    SavedShards(std::string const& path, int rank, int ranks);

    /// This rank's rows of a table, or of a state, of which each file has some. `load` gives those of a file.
    /// errors   FormatError if a file does not have the rows that it must have; ShapeError if the height differs; those
    ///          of `load`
    Value rows(Variable const& table, std::string const& name, LoadValue const& load) const;

    CheckpointFile const file;  // the index
    TableIndex const index;
    std::vector<CheckpointFile> shards;

private:
    int rank_, ranks_;
};

/// errors   GraphError if the save is of another net; as SavedShards::rows and load_parameter
Parameters read_model(Variable& predict, SavedShards const& saved);
Parameters read_parameters(Variable& net, SavedShards const& saved, LoadValue const& load);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/model_files_inl.hpp>
