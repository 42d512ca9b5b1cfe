// rowan/distributed/detail/shard_files.hpp: saves of which each rank writes a file, and their loads.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/table_index.hpp>
#include <rowan/distributed/partition.hpp>
#include <rowan/distributed/together.hpp>
#include <rowan/io/checkpoint.hpp>
#include <rowan/io/detail/file.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// What a rank saves: its file, and what the index has besides, which is the same on all ranks.
struct ShardSave {
    Partition partition;
    std::int64_t step = 0;
    Checkpoint shard = {}, index = {};
};

/// Saves what `make` gives on each rank, with the system calls of Files.
/// errors   on all ranks: Error if the name is no file name, or what is saved differs in more than rows; IoError; what
///          `make` throws
template <class Files, communicator C>
void save_shards(C const& comm, std::string const& folder, std::string const& name,
                 std::function<ShardSave()> const& make) {
    std::int64_t number = 0, what = 0, id = 0;
    std::string path;
    ShardSave own;
    std::vector<std::int64_t> ids;
    together(comm, [&] {
        ids.resize(static_cast<std::size_t>(comm.size()));
        check_file_name(name);
        own = make();
        what = number_of(own.shard, name, own.step) * 31 + number_of(own.index, name, own.step);
        if (comm.rank() == 0) number = new_save(folder, name);
    });
    comm.sum({&number, 1});  // that of rank 0
    std::int64_t all = what;
    comm.sum({&all, 1});
    together(comm, [&] {
        if (all != what * comm.size())
            throw Error(
                std::string("save of ").append(name).append(": ranks have different names, steps, values or states"));
        path = shard_path(folder, name, number, comm.rank());
    });
    try {
        together(comm, [&] { id = static_cast<std::int64_t>(save_checkpoint<Files>(own.shard, path)); });
    } catch (...) {
        std::remove(path.c_str());
        throw;
    }
    comm.allgather(std::as_bytes(std::span(&id, 1)), bytes_of(ids));
    together(comm, [&] {
        if (comm.rank() != 0) return;
        TableIndex(own.partition, own.step, number, ids).add_to(own.index);
        save_checkpoint<Files>(own.index, index_path(folder, name));
        remove_other_saves(folder, name, number);
    });
}

/// Calls f(notice), which reads a save and returns the id of its index, on every rank.
/// errors   FormatError on all ranks if f throws one on some, or they have read different saves; else as agree
void load_shards(ProcessGroup const& group, std::string const& path, std::function<std::int64_t(Notice&)> const& f);

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/shard_files_inl.hpp>
