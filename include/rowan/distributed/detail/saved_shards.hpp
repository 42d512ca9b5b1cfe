// rowan/distributed/detail/saved_shards.hpp: SavedShards, a save of which each file is read by one of the ranks that load.
#pragma once

#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/table_index.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/sparse/partition.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <span>
#include <string>

namespace rowan::inline v0::detail {

/// A value of which all files of a save have rows, and where those of this rank go.
struct ShardRows {
    std::string name;         // in the files
    Partition own;            // the rows of the ranks that load
    std::span<std::byte> to;  // the elements of this rank's rows
};

/// The folder and the name of a file.
struct SavePlace {
    ROWAN_IF_CALLED explicit SavePlace(std::string const& path);
    std::string folder, name;
};

/// A save that `ranks` ranks load: file f is read by rank f % ranks alone, which deals its rows.
class SavedShards {
public:
    /// Opens the index, and the files that this rank reads, whose names begin with `files`, or, if that is empty, with
    /// the name of the index.
    /// errors   FormatError if one is missing, damaged or of another save
    SavedShards(std::string const& path, int rank, int ranks, std::string const& files = {});

    /// Tells all ranks which values the files have. For ranks that have agreed.
    /// cost     two allgathers
    ROWAN_IF_CALLED void share_values(ProcessGroup const& group);
    /// The values as in file 0, without elements. Its rank knows whether they are right: see check.
    std::map<std::string, CheckpointEntry> const& values() const { return values_; }
    /// A value that is dealt like this.
    /// errors   FormatError if file 0 has none of this name, or other rows; ShapeError if the height differs
    CheckpointEntry const& value(std::string const& name, Partition const& own) const;
    /// errors   FormatError if a file that this rank reads does not have the rows and the type that it must have
    ROWAN_IF_CALLED void check(ShardRows const& rows) const;

    /// Reads rows of this rank's files and sends them to their ranks, at most about `piece` bytes to one at a time. For
    /// ranks that have agreed, on values that are the same but for `to`. What a file throws is put into `damage`.
    /// cost     one read of this rank's files, and every row of another rank sent once; nothing is sent if each rank
    ///          has the rows of its file. Three buffers of `piece` bytes. Each rank computes the places of all rows, by
    ///          runs that no partition divides
    ROWAN_IF_CALLED void deal(ProcessGroup const& group, ShardRows const& rows, std::size_t piece,
                              std::exception_ptr& damage) const;

    /// The number of rows of a value. For one rank, which reads all files.
    ROWAN_IF_CALLED std::int64_t height(std::string const& name) const;
    /// Calls f with all rows of a value that has been checked, in order, in pieces of about `piece` bytes. For one rank.
    /// errors   FormatError if a checksum is wrong, after f; IoError; those of f
    /// cost     one read of the files; two buffers of `piece` bytes
    ROWAN_IF_CALLED void each_piece(std::string const& name, std::size_t piece,
                                    std::function<void(std::span<std::byte const>)> const& f) const;

    std::map<int, CheckpointFile> const& files() const { return files_; }  // that this rank reads
    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    std::string shard_path(int f) const { return detail::shard_path(place_.folder, place_.name, index.number, f); }

    CheckpointFile const file;  // the index
    TableIndex const index;

private:
    int rank_, ranks_;
    SavePlace place_;
    std::map<int, CheckpointFile> files_;
    std::map<std::string, CheckpointEntry> values_;
};

/// The bytes of a row.
ROWAN_IF_CALLED std::size_t entry_row_bytes(CheckpointEntry const& value);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/saved_shards_inl.hpp>
