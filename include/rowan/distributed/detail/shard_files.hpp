// rowan/distributed/detail/shard_files.hpp: saves of which each rank writes a file, and their loads.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/saved_shards.hpp>
#include <rowan/distributed/detail/table_index.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/sparse/partition.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

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
