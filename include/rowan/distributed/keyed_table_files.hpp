// rowan/distributed/keyed_table_files.hpp: ShardedKeyedTable::save and load. Needs nanopb.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/keyed_shards.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/distributed/sharded_keyed_table.hpp>
#include <rowan/io/checkpoint_entry.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/keyed_table.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// What save and load do with states of S, with the system calls of Files.
template <class S>
struct KeyedTableFiles {
    template <class Files = PosixFiles, class T, class Key, class C, class States>
    static void save(ShardedKeyedTable<T, Key, C> const& table, std::string const& folder, std::string const& name,
                     std::int64_t step, States const& states) {
        auto const& comm = table.comm();
        auto const make = [&] {
            ShardSave save{.partition = {0, 1, comm.size()}, .step = step, .table = table.number()};
            check_states(table.local(), states);
            add_keyed_table(save.shard, "rows", table.local());
            for (auto const& [key, state] : states) save.shard.add("state " + key, state.get().tensor());
            return save;
        };
        save_shards<Files>(comm, folder, name, std::cref(make));
    }

    template <class T, class Key, class C, class States>
    static std::int64_t load(ShardedKeyedTable<T, Key, C>& table, std::string const& folder, std::string const& name,
                             States const& states, std::size_t piece = deal_bytes) {
        std::string path;
        auto& local = *table.local_;
        auto const group = table.group();
        std::optional<KeyedShards> shards;
        std::optional<KeyIndex<Key>> keys;
        NamedValues names;
        std::exception_ptr damage;
        bool travel = false;
        auto const check = [&](Notice& n) {
            auto const is_like = [&](std::string const& file, Values const& values) {
                check_types(file, values, local, states);
            };
            if (travel) is_like(shards->shard_path(0), shards->values());
            for (auto const& opened : shards->files()) {
                auto const& file = opened.second;
                auto const of_file = [&] { is_like(file.path(), saved_values(file)); };
                if (travel && opened.first != 0) {  // all ranks know those of the first: others are damaged
                    check_undamaged(file.path(), std::cref(of_file));
                } else {
                    of_file();
                }
            }
            shards->check();
            n.own[1] = names.hash();
            n.own[2] = shards->step;
        };
        auto const finish = [&](Notice&) {
            if (damage) std::rethrow_exception(damage);
            keys.emplace(index_of<Key>(*shards, path, local));
            if (std::cmp_less_equal(keys->size(), table.capacity_)) {  // else agree_on_growth throws
                KeyedTableAccess::reserve(local, keys->height());
                for (auto const& [key, state] : states) state.get().reserve(keys->height());
            }
        };
        auto const open = [&](Notice& n) {  // needs no memory before ranks agree
            table.describe(n);
            n.own[2] = table.number();
            check_file_name(name);
            path = index_path(folder, name);
            shards.emplace(path, group.rank(), group.size(), std::same_as<Key, std::string>,
                           local.index().options().record_uses, local.value().row_size() * sizeof(T));
            travel = shards->index.partition.ranks != group.size();
            check_states(local, states);
            for (auto const& [key, state] : states) {
                auto const width = state.get().tensor().row_size() * sizeof(S);
                shards->add_state(key, width);
                names.add(std::string("states[\"").append(key).append("\"]"), static_cast<std::int64_t>(width));
            }
            if (!travel) {
                Notice own;
                check(own);
                shards->deal(nullptr, piece, damage);
                finish(own);
            }
            return static_cast<std::int64_t>(shards->file.id());
        };
        open_shards(group, path, std::cref(open));
        if (travel) {
            after_agreement(group, [&] { shards->share_values(group); });
            auto const notices = agree_on_load(group, path, std::cref(check));
            check_same_values(group, notices, 1, names);
            after_agreement(group, [&] {
                for (auto const& n : notices) shards->step = std::max(shards->step, n.own[2]);
                shards->deal(&group, piece, damage);
            });
            static_cast<void>(agree_on_load(group, path, std::cref(finish)));
        }
        auto const number = table.agree_on_growth(
            Collective::load, names, [&]() -> auto const& { return *keys; });
        after_agreement(group, [&] {
            table.set(table.slots(), number);
            KeyedTableAccess::replace(local, std::move(*keys), Tensor<T>::from_shape({0, local.value().row_size()}));
            auto column = shards->value_column();
            shards->rows.copy(column, bytes_of(local.value()).data());
            for (auto const& [key, state] : states) {
                auto& to = state.get();
                to.grow(std::max(to.height(), local.height()));
                shards->rows.copy(++column, bytes_of(to.tensor()).data());
            }
        });
        return shards->index.step;
    }

private:
    using Values = std::map<std::string, CheckpointEntry>;

    /// errors   FormatError if a file has no value of this name; TypeError if it is not a V
    template <class V>
    static CheckpointEntry const& check_type(std::string const& path, Values const& values, std::string const& name) {
        auto const& there = saved_value(values, path, name);
        checkpoint_value<V>::expect(there.desc, there.type_name, there.element_size);
        return there;
    }
    /// errors   those of check_type; ShapeError if rows are not like those
    template <class E>
    static void check_rows_like(std::string const& path, Values const& values, std::string const& name,
                                Tensor<E> const& like) {
        auto const dims = tensor_of(check_type<Tensor<E>>(path, values, name).desc).dims;
        auto const field = std::string(name).append(" in ").append(path);
        if (dims.empty()) throw ShapeError({field, " rank"}, "0", "at least 1");
        check_trailing_dims(field.c_str(), dims, std::vector<std::int64_t>(like.shape().begin(), like.shape().end()));
    }
    template <class T, class Key, class States>
    static void check_types(std::string const& path, Values const& values, KeyedTable<T, Key> const& table,
                            States const& states) {
        using Numbers = Tensor<std::int64_t>;
        using Keys = typename KeyVariable<Key>::type;
        check_rows_like(path, values, "rows", table.value());
        for (auto const* const part : {"rows.keys", "rows.seen"}) check_type<Keys>(path, values, part);
        for (auto const* const part : {"rows.rows", "rows.uses", "rows.sightings", "rows.step"})
            check_type<Numbers>(path, values, part);
        for (auto const& [key, state] : states) check_rows_like(path, values, "state " + key, state.get().tensor());
    }

    /// The index of what has come, with room for as many rows as the table has.
    template <class Key, class T>
    static KeyIndex<Key> index_of(KeyedShards const& shards, std::string const& path, KeyedTable<T, Key> const& table) {
        KeyIndexContents<Key> contents{.step = shards.step};
        contents.keys = keys_of<Key>(shards.rows);
        contents.rows.resize(contents.keys.size());
        std::iota(contents.rows.begin(), contents.rows.end(), std::int64_t{0});
        contents.height = std::max(static_cast<std::int64_t>(contents.keys.size()), table.height());
        auto options = table.index().options();
        if (options.record_uses) {
            contents.uses.resize(contents.keys.size());
            shards.rows.copy(shards.uses_column, bytes_of(contents.uses).data());
        }
        contents.seen = keys_of<Key>(shards.seen);
        contents.sightings.resize(contents.seen.size());
        shards.seen.copy(shards.sightings_column, bytes_of(contents.sightings).data());
        options.capacity = KeyIndexOptions().capacity;  // that of all ranks is checked later
        KeyIndex<Key> index(options);
        try {
            index.assign(contents);
        } catch (IndexError const& e) {
            throw FormatError(0, path, e.what());
        }
        KeyIndexAccess::limit(index, table.index().options().capacity);
        return index;
    }
    template <class Key>
    static std::vector<Key> keys_of(DealtKeys const& dealt) {
        if constexpr (std::same_as<Key, std::string>) {
            return dealt.texts();
        } else {
            std::vector<Key> keys(dealt.size());
            dealt.copy(DealtKeys::keys, bytes_of(keys).data());
            return keys;
        }
    }
    template <class T, class Key, class States>
    static void check_states(KeyedTable<T, Key> const& table, States const& states) {
        for (auto const& [key, state] : states) {
            if (state.get().height() == table.height()) continue;
            throw ShapeError({"states[\"", key, "\"]"}, {state.get().height(), " rows"},
                             {table.height(), ", as value()"});
        }
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
