// rowan/distributed/gather_save.hpp: gather_save and gather_save_to_npy, the files of a save as one. Needs nanopb.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <string>

namespace rowan::inline v0 {

/// Writes what ranks have saved of a ShardedTable, or by save_model or save_parameters, to one safetensors file, atomically:
/// whole tables and states, with their rows in order, by their names, and what is not sharded. `save` is the path of the
/// index, which names the other files. One process calls it. scatter_save makes a save of it again.
///     gather_save("run/parameters.rowan", "all.safetensors");
/// The metadata has "rowan.save", the rows of a block and the step of the save, and for each value "rowan:<name>": its
/// kind, the number of its element type, its size and name: "table 5 4 f32". Kinds are
/// - "sharded": rows that are dealt to ranks; "table": the same in a SelectedRows, as tables of nets are
/// - "whole": what every rank has; "whole_table": the same in a SelectedRows, with all its rows
/// A program of save_model is not in the file, and load_model(comm, …) needs none.
/// errors   FormatError if a file is missing, damaged or of another save; TypeError if a SelectedRows does not have all its
///          rows; ShapeError if a value has levels; Error if a name is "__metadata__", or a text is not UTF-8; IoError
/// cost     one read and one write; beside what is not sharded, 32 MiB in memory for any size of the tables
void gather_save(std::string const& save, std::string const& path);

/// Writes one value of a save to a .npy file, atomically. The rows of a ShardedTable are "rows", its states "state <name>".
///     gather_save_to_npy("run/table", "rows", "rows.npy");
/// errors   Error if there is no value of this name; as gather_save
/// cost     as gather_save, of this value
void gather_save_to_npy(std::string const& save, std::string const& name, std::string const& path);

}  // namespace rowan::inline v0

#include <rowan/distributed/gather_save_inl.hpp>
