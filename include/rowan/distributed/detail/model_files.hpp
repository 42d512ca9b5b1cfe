// rowan/distributed/detail/model_files.hpp: what ranks save of a net, and read.
#pragma once

#include <rowan/distributed/detail/saved_shards.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/train/parameters.hpp>

#include <functional>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// The parameters of a net by names that depend only on the net.
/// errors   GraphError if one is missing; ShapeError if a table does not have this rank's rows
ROWAN_IF_CALLED ShardSave model_save(Variable& predict, Parameters const& parameters, int rank, int ranks);
/// All values by their names, and the number of steps.
/// errors   as above; ShapeError if a state does not have a row for each of its table
ROWAN_IF_CALLED ShardSave parameters_save(Variable& net, Parameters const& parameters, int rank, int ranks);

/// A value of the elements of an entry, from the file at `path`.
using MakeValue = std::function<Value(std::string const& path, CheckpointEntry const& entry)>;

/// The parameters in a save, of which those of sharded tables get their elements when their rows have been dealt.
/// errors   GraphError if the save is of another net; as load_parameter
ROWAN_IF_CALLED std::vector<ShardRows> read_model(Variable& predict, SavedShards const& saved, Parameters& parameters);
/// errors   GraphError if the save is of another net; those of `make`; as load_steps
ROWAN_IF_CALLED std::vector<ShardRows> read_parameters(Variable& net, SavedShards const& saved, Parameters& parameters,
                                                       MakeValue const& make);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/model_files_inl.hpp>
