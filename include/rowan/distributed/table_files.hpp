// rowan/distributed/table_files.hpp: ShardedTable::save and load. Needs nanopb.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/distributed/sharded_table.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/sparse/partition.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// What save and load do with states of S, with the system calls of Files.
template <class S>
struct TableFiles {
    template <class Files = PosixFiles, class T, class D, class C>
    static void save(ShardedTable<T, D, C> const& table, std::string const& folder, std::string const& name,
                     std::int64_t step, std::map<std::string, Tensor<S>> const& states) {
        auto const make = [&] {
            ShardSave save{.partition = table.partition_, .step = step, .table = table.number()};
            for (auto const& [key, state] : states) check_state(key, state.shape(), table.local_);
            save.shard.add("rows", table.local_);
            for (auto const& [key, state] : states) save.shard.add("state " + key, state);
            return save;
        };
        save_shards<Files>(table.comm(), folder, name, std::cref(make));
    }

    template <class T, class D, class C>
    static std::int64_t load(ShardedTable<T, D, C>& table, std::string const& folder, std::string const& name,
                             std::map<std::string, Tensor<S>>& states, std::size_t piece = deal_bytes) {
        auto const& own = table.partition_;
        Tensor<T> local;
        std::map<std::string, Tensor<S>> read;
        auto const begin = [&](Notice& n) {  // needs no memory before ranks agree
            table.describe(n);
            n.own[2] = table.number();
            check_file_name(name);
            auto const here = static_cast<std::size_t>(own.rows_of(table.comm().rank()));
            if (table.local_.shape()[0] != here)
                throw ShapeError("local().shape(0)", table.local_.shape()[0],
                                 {here, ", the number of this rank's rows"});
            for (auto const& [key, state] : states) check_state(key, state.shape(), table.local_);
            return index_path(folder, name);
        };
        auto const rows = [&](SavedShards const& saved) {
            check_height(saved.file.path(), saved.index.partition, own);
            local = Tensor<T>::from_shape(table.local_.shape());
            std::vector<ShardRows> all{rows_of(saved, "rows", own, local)};
            for (auto const& [key, state] : states) {
                auto& to = read.emplace(key, Tensor<S>::from_shape(state.shape())).first->second;
                all.push_back(rows_of(saved, "state " + key, own, to));
            }
            return all;
        };
        auto const step = load_shards(table.group(), std::cref(begin), std::cref(rows), piece);
        table.local_ = std::move(local);
        states.swap(read);
        return step;
    }

private:
    /// errors   TypeError or ShapeError if the rows in the files are not like those of `to`
    template <class E>
    static ShardRows rows_of(SavedShards const& saved, std::string const& name, Partition const& own, Tensor<E>& to) {
        auto const& there = saved.value(name, own);
        checkpoint_value<Tensor<E>>::expect(there.desc, there.type_name, there.element_size);
        auto const& dims = tensor_of(there.desc).dims;
        std::vector<std::int64_t> want(to.shape().begin(), to.shape().end());
        want[0] = dims[0];
        if (dims != want) throw ShapeError({name, " in ", saved.shard_path(0)}, shape_text(dims), shape_text(want));
        return {name, own, bytes_of(to)};
    }

    template <class Shape, class T>
    static void check_state(std::string const& key, Shape const& shape, Tensor<T> const& local) {
        if (!shape.empty() && shape[0] == local.shape()[0]) return;
        throw ShapeError({"states[\"", key, "\"]"}, shape_text(shape), {local.shape()[0], " rows, as local()"});
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
