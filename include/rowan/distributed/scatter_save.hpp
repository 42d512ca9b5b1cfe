// rowan/distributed/scatter_save.hpp: scatter_save, a save of ranks from one file. Needs nanopb.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <string>

namespace rowan::inline v0 {

/// Makes a save of `ranks` ranks from one file, which any number of ranks load: what gather_save has written, or any
/// safetensors or .npy file. `save` is the path of the index; one that exists is replaced when the other files are
/// complete, and its files are removed. One process calls it.
///     scatter_save("all.safetensors", "run/parameters.rowan", 8);
/// A safetensors file without the metadata of gather_save, and a .npy file, become the save of a ShardedTable at step 0:
/// the tensors are "rows" and "state <name>", the one of a .npy file is "rows". Only kinds need to be said of tensors of
/// types that rowan has: {"rowan:w": "whole"}.
/// shapes   tensors that are sharded have rank 1 or more; a table and its states have the same first dim
/// errors   ShapeError if ranks is below 1 or a shape is wrong; FormatError if the file is damaged or its metadata wrong;
///          TypeError if it has an element type that rowan does not have; Error if `save` has no file name; IoError. The
///          old save is then unchanged
/// cost     two reads and one write; the file is mapped, and of each table as a SelectedRows 8 bytes for each row of a
///          rank are in memory
void scatter_save(std::string const& path, std::string const& save, int ranks);

}  // namespace rowan::inline v0

#include <rowan/distributed/gather_save_inl.hpp>
