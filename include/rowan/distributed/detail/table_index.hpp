// rowan/distributed/detail/table_index.hpp: TableIndex, which files of ranks make a save.
#pragma once

#include <rowan/detail/named_values.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/sparse/partition.hpp>
#include <rowan/sparse/placement.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// A save of tables is a file for each rank, `<name>-<number>.<rank>.rows`, and the index, `<name>`, which is replaced
/// when they are complete, and has what is not sharded besides. So there is always an old or a new save, whole.
struct TableIndex {
    Partition partition;  // of height 0 if tables of any heights are dealt like this
    std::int64_t step = 0, number = 0;
    std::vector<std::int64_t> ids;                // of the ranks' files
    std::map<std::string, Placement> placements;  // of values in these that are dealt in another way

    TableIndex(Partition const& p, std::int64_t at_step, std::int64_t n, std::vector<std::int64_t> of_files)
        : partition(p), step(at_step), number(n), ids(std::move(of_files)) {}
    /// errors   FormatError if the file is not an index
    ROWAN_IF_CALLED explicit TableIndex(CheckpointFile const& file);

    ROWAN_IF_CALLED void add_to(Checkpoint& index) const;

    /// How the rows of a value in the ranks' files are dealt.
    ROWAN_IF_CALLED Partition partition_of(std::string const& name, std::int64_t height) const;
    /// Whether it is the name of an entry of the index itself.
    static bool has_name(std::string_view name) { return name.starts_with("@shard") || name.starts_with(placed); }

    static constexpr std::string_view placed = "@placement ";  // the name of a value follows
};

/// Opens a file of a save.
/// errors   FormatError if it is missing; as CheckpointFile
ROWAN_IF_CALLED CheckpointFile open_saved(std::string const& path);

/// What must be the same on all ranks that save: the name, the step, and the names, types and shapes of values, of
/// those in `shard` but for the number of rows.
ROWAN_IF_CALLED NamedValues values_of(Checkpoint const& shard, Checkpoint const& index, std::string const& name,
                                      std::int64_t step);

/// Whether this save is the one that its index names; true if that cannot be known.
ROWAN_IF_CALLED bool has_number(std::string const& path, std::int64_t number);

ROWAN_IF_CALLED std::string index_path(std::string const& folder, std::string const& name);
ROWAN_IF_CALLED std::string shard_path(std::string const& folder, std::string const& name, std::int64_t number,
                                       int rank);

/// Makes the folder if there is none. Returns a number that no file of this name has.
/// errors   IoError
ROWAN_IF_CALLED std::int64_t new_save(std::string const& folder, std::string const& name);

/// Removes the ranks' files of all other saves, also of saves that were not completed, but not of that whose index is
/// the file `previous`, if there is one.
void remove_other_saves(std::string const& folder, std::string const& name, std::int64_t number,
                        std::string const& previous = {});

/// errors   FormatError if the file is missing, damaged, or of another save
ROWAN_IF_CALLED CheckpointFile open_shard(TableIndex const& index, std::string const& folder, std::string const& name,
                                          int rank);

/// errors   FormatError if the file has no variable of this name
ROWAN_IF_CALLED void check_has(CheckpointFile const& file, std::string const& name);

/// The values of a file, without elements.
ROWAN_IF_CALLED std::map<std::string, CheckpointEntry> saved_values(CheckpointFile const& file);

/// A value of the file with this path.
/// errors   FormatError if there is none of this name
ROWAN_IF_CALLED CheckpointEntry const& saved_value(std::map<std::string, CheckpointEntry> const& values,
                                                   std::string const& path, std::string const& name);

/// errors   ShapeError if the tables differ in height
ROWAN_IF_CALLED void check_height(std::string const& path, Partition const& saved, Partition const& own);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/table_index_inl.hpp>
