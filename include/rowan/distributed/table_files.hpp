// rowan/distributed/table_files.hpp: ShardedTable::save and load. Needs nanopb.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/distributed/detail/table_index.hpp>
#include <rowan/distributed/sharded_table.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/file.hpp>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// What save and load do with states of S, with the system calls of Files.
template <class S>
struct TableFiles {
    template <class Files = PosixFiles, class T, class D, class C>
    static void save(ShardedTable<T, D, C> const& table, std::string const& folder, std::string const& name,
                     std::int64_t step, std::map<std::string, Tensor<S>> const& states) {
        auto const make = [&] {
            ShardSave save{.partition = table.partition_, .step = step, .table = table.shards_.number()};
            for (auto const& [key, state] : states) check_state(key, state.shape(), table.local_);
            save.shard.add("rows", table.local_);
            for (auto const& [key, state] : states) save.shard.add("state " + key, state);
            return save;
        };
        save_shards<Files>(table.shards_.comm(), folder, name, std::cref(make));
    }

    template <class T, class D, class C>
    static std::int64_t load(ShardedTable<T, D, C>& table, std::string const& folder, std::string const& name,
                             std::map<std::string, Tensor<S>>& states) {
        std::string path;
        Tensor<T> local;
        std::map<std::string, Tensor<S>> read;
        std::int64_t step = 0;
        auto const load = [&](Notice& n) {  // needs no memory before ranks agree
            table.shards_.describe(n, table.local_.row_size());
            n.own[2] = table.shards_.number();
            check_file_name(name);
            path = index_path(folder, name);
            CheckpointFile const file = open_saved(path);
            TableIndex const index = naming_file(path, [&] { return TableIndex(file); });
            check_height(path, index.partition, table.partition_);
            for (auto const& [key, state] : states) check_state(key, state.shape(), table.local_);
            local = Tensor<T>::from_shape(table.local_.shape());
            for (auto const& [key, state] : states) read.emplace(key, Tensor<S>::from_shape(state.shape()));
            for (int r = 0; r < index.partition.ranks; ++r) read_shard(table, index, folder, name, r, local, read);
            step = index.step;
            return static_cast<std::int64_t>(file.id());
        };
        load_shards(table.shards_.group(), path, std::cref(load));
        table.local_ = std::move(local);
        states.swap(read);
        return step;
    }

private:
    /// Copies those rows of a shard that this rank has.
    template <class T, class D, class C>
    static void read_shard(ShardedTable<T, D, C> const& table, TableIndex const& index, std::string const& folder,
                           std::string const& name, int rank, Tensor<T>& local,
                           std::map<std::string, Tensor<S>>& states) {
        auto const file = open_shard(index, folder, name, rank);
        if (!shares_rows(table.partition_, table.shards_.comm().rank(), index.partition, rank)) return;
        copy_rows(table, index.partition, rank, file, "rows", local);
        for (auto& [key, state] : states) copy_rows(table, index.partition, rank, file, "state " + key, state);
    }

    template <class T, class D, class C, class E>
    static void copy_rows(ShardedTable<T, D, C> const& table, Partition const& from, int rank,
                          CheckpointFile const& file, std::string const& name, Tensor<E>& to) {
        check_has(file, name);
        auto const rows = naming_file(file.path(), [&] { return file.load<Tensor<E>>(name); });
        auto shape = to.shape();
        shape[0] = static_cast<std::size_t>(from.rows_of(rank));
        if (rows.shape() != shape)
            throw ShapeError(std::string(name).append(" in ").append(file.path()), shape_text(rows.shape()),
                             shape_text(shape));
        std::size_t const bytes = to.row_size() * sizeof(E);
        if (bytes == 0) return;
        each_run(table.partition_, table.shards_.comm().rank(), from,
                 [&](std::int64_t i, std::int64_t row, std::int64_t n) {
                     if (from.owner(row) != rank) return;
                     std::memcpy(to.data() + static_cast<std::size_t>(i) * to.row_size(),
                                 rows.data() + static_cast<std::size_t>(from.local(row)) * to.row_size(),
                                 static_cast<std::size_t>(n) * bytes);
                 });
    }

    template <class Shape, class T>
    static void check_state(std::string const& key, Shape const& shape, Tensor<T> const& local) {
        if (!shape.empty() && shape[0] == local.shape()[0]) return;
        throw ShapeError(std::string("states[\"").append(key).append("\"]"), shape_text(shape),
                         std::to_string(local.shape()[0]).append(" rows, as local()"));
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
