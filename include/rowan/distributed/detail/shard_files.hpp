// rowan/distributed/detail/shard_files.hpp: saves of which each rank writes a file, and their loads.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/checkpoint_reader.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/sparse/partition.hpp>
#include <rowan/sparse/placement.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <span>
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

/// A section of a file, which is read once, from its begin.
class SectionReader {
public:
    /// The elements of a variable, or its first section: offsets of sequences, or the rows of a SelectedRows without levels.
    ROWAN_IF_CALLED SectionReader(CheckpointFile const& file, std::string const& name, bool offsets = false);

    std::uint64_t left() const { return section_.bytes - begin_; }
    /// errors   FormatError if the section ends here, and its checksum is wrong; IoError
    ROWAN_IF_CALLED void read(std::span<std::byte> to);

private:
    CheckpointReader const& reader_;
    CheckpointRecord record_;
    CheckpointSection section_;
    bool elements_;
    std::uint64_t begin_ = 0;
    std::uint32_t sum_ = 0;
};

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

/// What a rank saves: its file, and what the index has besides, which is the same on all ranks.
struct ShardSave {
    Partition partition;
    std::int64_t step = 0, table = 0;  // the number of the table, if it is sharded
    Checkpoint shard = {}, index = {};
    std::map<std::string, Placement> placements = {};  // as those of TableIndex
};

/// Adds what must be the same on all ranks of how the rows of a value are dealt.
ROWAN_IF_CALLED void add_places(NamedValues& same, std::string const& name, Partition const& partition);

/// The save that another one replaces.
struct ReplacedSave {
    std::function<void()> begin = {};  // called before the first file is written
    std::string previous = {};         // an index whose files remain
    bool kept = false;                 // whether the index that is replaced becomes `previous`
};

/// Saves the index on rank 0, when the files of the ranks are complete, and removes those of other saves but `previous`.
/// errors   what `save` throws
ROWAN_IF_CALLED void save_index(ProcessGroup const& group, std::string const& folder, std::string const& name,
                                std::int64_t number, std::string const& previous, std::function<void()> const& save);

/// Saves what `make` gives on each rank, with the system calls of Files.
/// errors   on all ranks: Error if the name is no file name; ShapeError if what is saved differs in more than rows;
///          IoError; what `make` throws. The files of this save are then removed
template <class Files, communicator C>
void save_shards(C const& comm, std::string const& folder, std::string const& name,
                 std::function<ShardSave()> const& make, ReplacedSave const& replaced = {}) {
    GroupOf<C> const group(comm);
    ShardSave own;
    NamedValues same;
    std::string path;
    std::int64_t number = 0;
    auto notices = agree(group, Collective::save, Told::all, [&](Notice& n) {
        check_file_name(name);
        own = make();
        same = values_of(own.shard, own.index, name, own.step);
        same.add("the number of the sharded table", own.table);
        for (auto const& [key, place] : own.placements) add_places(same, key, place.on(0, comm.size()));
        if (comm.rank() == 0 && replaced.begin) replaced.begin();
        if (comm.rank() == 0) n.own[0] = new_save(folder, name);
        n.own[1] = same.hash();
    });
    check_same_values(group, notices, 1, same);
    number = notices[0].own[0];
    try {
        notices = agree(group, Collective::save, Told::all, [&](Notice& n) {
            path = shard_path(folder, name, number, comm.rank());
            n.own[0] = static_cast<std::int64_t>(save_checkpoint<Files>(own.shard, path));
        });
        auto const save = [&] {
            std::vector<std::int64_t> ids;
            for (auto const& n : notices) ids.push_back(n.own[0]);
            TableIndex made(own.partition, own.step, number, std::move(ids));
            made.placements = own.placements;
            made.add_to(own.index);
            write_checkpoint<Files>(Cpu{}, own.index, std::nullopt, index_path(folder, name), {},
                                    replaced.kept ? replaced.previous : std::string());
        };
        save_index(group, folder, name, number, replaced.previous, std::cref(save));
    } catch (...) {
        if (!path.empty() && !has_number(index_path(folder, name), number)) std::remove(path.c_str());
        throw;
    }
}

/// Agrees on what f(notice) does, which sets own[1] and own[2] alone.
/// errors   FormatError on all ranks if f throws one on some; else as agree
std::vector<Notice> agree_on_load(ProcessGroup const& group, std::string const& path,
                                  std::function<void(Notice&)> const& f);

/// Calls f(notice), which opens a save, sets the path of its index and returns its id, on every rank. own[2] is the number
/// of the ShardedTable, if it is one.
/// errors   ShapeError on all ranks if their tables differ; FormatError on all if they have opened different saves; as
///          agree_on_load
ROWAN_IF_CALLED void open_shards(ProcessGroup const& group, std::string const& path,
                                 std::function<std::int64_t(Notice&)> const& f);

/// The bytes that travel to a rank at a time.
inline constexpr std::size_t deal_bytes = std::size_t{16} << 20;

/// Loads a save: begin(notice), which gives the path of its index and is as f of open_shards, then what `rows` gives, of
/// which each rank has its rows when this returns. The names of its files begin as SavedShards says. Returns the step of
/// the save.
/// errors   ShapeError on all ranks if they ask for different values; those of begin and rows; as open_shards.
///          On error, only memory that `rows` has given may have changed
/// cost     three agreements and two allgathers; as SavedShards::deal
std::int64_t load_shards(ProcessGroup const& group, std::function<std::string(Notice&)> const& begin,
                         std::function<std::vector<ShardRows>(SavedShards const&)> const& rows,
                         std::size_t piece = deal_bytes, std::string const& files = {});

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/shard_files_inl.hpp>
#include <rowan/distributed/detail/table_index_inl.hpp>
