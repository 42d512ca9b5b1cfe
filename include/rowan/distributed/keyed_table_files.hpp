// rowan/distributed/keyed_table_files.hpp: ShardedKeyedTable::save and load. Needs nanopb.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/key_fetch.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/distributed/detail/table_index.hpp>
#include <rowan/distributed/sharded_keyed_table.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/keyed_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Adds those rows of a tensor to another.
template <class E>
void append_rows(GrowingTensor<E>& to, Tensor<E> const& from, std::span<std::int64_t const> rows) {
    auto at = static_cast<std::size_t>(to.height());
    to.grow(to.height() + static_cast<std::int64_t>(rows.size()));
    for (std::int64_t const row : rows)
        std::ranges::copy(from.row(static_cast<std::size_t>(row)), to.tensor().row(at++).begin());
}

/// What a rank loads: the rows of its keys, one after another, and the states of S.
template <class T, class Key, class S>
class LoadedShard {
public:
    template <class States>
    LoadedShard(KeyedTable<T, Key> const& table, int rank, int ranks, States const& states)
        : rank_(rank), ranks_(ranks), value_({table.value().row_size()}) {
        for (auto const& [key, state] : states) {
            auto const& shape = state.get().tensor().shape();
            states_.try_emplace(key, typename Tensor<S>::shape_type(shape.begin() + 1, shape.end()));
        }
    }

    GrowingTensor<T> const& value() const { return value_; }
    GrowingTensor<S> const& state(std::string const& key) const { return states_.at(key); }

    /// Reads what is of this rank from the file of a rank of a save.
    void read(CheckpointFile const& file, int saved_rank, int saved_ranks) {
        auto const value = rows_of<T>(file, "rows", value_.tensor());
        for (auto const* const part :
             {"rows.keys", "rows.rows", "rows.uses", "rows.seen", "rows.sightings", "rows.step"})
            check_has(file, part);
        auto const saved = undamaged(file.path(), [&] {
            auto keys = naming_file(file.path(), [&] { return saved_keys<Key>(file, "rows", value); });
            check(keys, saved_rank, saved_ranks);
            return keys;
        });
        auto const mine = [&](Key const& key) { return key_owner(key, ranks_) == rank_; };
        std::vector<std::int64_t> rows;
        for (std::size_t i = 0; i < saved.keys.size(); ++i) {
            if (!mine(saved.keys[i])) continue;
            contents_.rows.push_back(contents_.height++);
            contents_.keys.push_back(saved.keys[i]);
            if (!saved.uses.empty()) contents_.uses.push_back(saved.uses[i]);
            rows.push_back(saved.rows[i]);
        }
        for (std::size_t i = 0; i < saved.seen.size(); ++i) {
            if (!mine(saved.seen[i])) continue;
            contents_.seen.push_back(saved.seen[i]);
            contents_.sightings.push_back(saved.sightings[i]);
        }
        contents_.step = std::exchange(begun_, true) ? std::max(contents_.step, saved.step) : saved.step;
        append_rows(value_, value, rows);
        for (auto& [key, state] : states_) {
            auto const from = rows_of<S>(file, "state " + key, state.tensor());
            if (from.shape()[0] != value.shape()[0])
                throw FormatError(0, file.path(), std::string("has other rows of `state ").append(key).append("`"));
            append_rows(state, from, rows);
        }
    }

    /// The index of the keys, with room for as many rows as the table has.
    KeyIndex<Key> index(std::string const& path, KeyedTable<T, Key> const& table) {
        auto options = table.index().options();
        options.capacity = KeyIndexOptions().capacity;  // that of all ranks is checked later
        KeyIndex<Key> index(options);
        contents_.height = std::max(contents_.height, table.height());
        try {
            index.assign(contents_);
        } catch (IndexError const& e) {
            throw FormatError(0, path, e.what());
        }
        KeyIndexAccess::limit(index, table.index().options().capacity);
        return index;
    }

private:
    /// Calls f, whose errors are those of the file.
    template <class F>
    static auto undamaged(std::string const& path, F const& f) -> decltype(f()) {
        try {
            return f();
        } catch (IndexError const& e) {
            throw FormatError(0, path, e.what());
        } catch (ShapeError const& e) {
            throw FormatError(0, path, e.what());
        }
    }

    /// errors   FormatError if there is no such variable; TypeError; ShapeError if its rows are not like those
    template <class E>
    static Tensor<E> rows_of(CheckpointFile const& file, std::string const& name, Tensor<E> const& like) {
        check_has(file, name);
        auto rows = naming_file(file.path(), [&] { return file.load<Tensor<E>>(name); });
        auto const field = std::string(name).append(" in ").append(file.path());
        check_rows(field.c_str(), rows);
        check_trailing(field.c_str(), rows, like.shape());
        return rows;
    }

    static void check(KeyIndexContents<Key> const& saved, int rank, int ranks) {
        auto const same_size = [](char const* field, std::size_t size, std::size_t want) {
            if (size != want) throw ShapeError(field, std::to_string(size), std::to_string(want));
        };
        same_size("rows.rows", saved.rows.size(), saved.keys.size());
        if (!saved.uses.empty()) same_size("rows.uses", saved.uses.size(), saved.keys.size());
        same_size("rows.sightings", saved.sightings.size(), saved.seen.size());
        check_ascending("rows.rows", saved.rows, 0, saved.height);
        auto const check_owners = [&](char const* field, std::vector<Key> const& keys) {
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (key_owner(keys[i], ranks) != rank) throw IndexError(field, i, "is the key of another rank");
            }
        };
        check_owners("rows.keys", saved.keys);
        check_owners("rows.seen", saved.seen);
    }

    int rank_, ranks_;
    bool begun_ = false;
    GrowingTensor<T> value_;
    std::map<std::string, GrowingTensor<S>> states_;
    KeyIndexContents<Key> contents_;
};

/// What save and load do with states of S, with the system calls of Files.
template <class S>
struct KeyedTableFiles {
    template <class Files = PosixFiles, class T, class Key, class C, class States>
    static void save(ShardedKeyedTable<T, Key, C> const& table, std::string const& folder, std::string const& name,
                     std::int64_t step, States const& states) {
        auto const& comm = table.shards_.comm();
        auto const make = [&] {
            ShardSave save{.partition = {0, 1, comm.size()}, .step = step, .table = table.shards_.number()};
            check_states(table.local(), states);
            add_keyed_table(save.shard, "rows", table.local());
            for (auto const& [key, state] : states) save.shard.add("state " + key, state.get().tensor());
            return save;
        };
        save_shards<Files>(comm, folder, name, std::cref(make));
    }

    template <class T, class Key, class C, class States>
    static std::int64_t load(ShardedKeyedTable<T, Key, C>& table, std::string const& folder, std::string const& name,
                             States const& states) {
        std::string path;
        auto& local = *table.local_;
        std::unique_ptr<LoadedShard<T, Key, S>> loaded;
        std::optional<KeyIndex<Key>> keys;
        NamedValues names;
        std::int64_t step = 0;
        auto const read = [&](Notice& n) {  // needs no memory before ranks agree
            table.shards_.describe(n, local.value().row_size());
            n.own[2] = table.shards_.number();
            check_file_name(name);
            path = index_path(folder, name);
            CheckpointFile const file = open_saved(path);
            TableIndex const index = naming_file(path, [&] { return TableIndex(file); });
            check_states(local, states);
            int const rank = table.shards_.comm().rank(), ranks = table.shards_.comm().size(),
                      saved_ranks = index.partition.ranks;
            loaded = std::make_unique<LoadedShard<T, Key, S>>(local, rank, ranks, states);
            for (int r = 0; r < saved_ranks; ++r) {
                if (saved_ranks == ranks && r != rank) continue;
                loaded->read(open_shard(index, folder, name, r), r, saved_ranks);
            }
            keys.emplace(loaded->index(path, local));
            if (std::cmp_less_equal(keys->size(), table.capacity_)) {  // else agree_on_growth throws
                KeyedTableAccess::reserve(local, keys->height());
                for (auto const& [key, state] : states) state.get().reserve(keys->height());
            }
            for (auto const& state : states) names.add(state.first, std::int64_t{1});
            step = index.step;
            return static_cast<std::int64_t>(file.id());
        };
        open_shards(table.shards_.group(), path, std::cref(read));
        auto const number = table.agree_on_growth(Collective::load, *keys, names.hash());
        after_agreement(table.shards_.group(), [&] {
            table.shards_.set(table.shards_.slots(), number);
            KeyedTableAccess::replace(local, std::move(*keys), loaded->value().tensor());
            for (auto const& [key, state] : states) {
                auto& to = state.get();
                auto const& from = loaded->state(key).tensor();
                to.grow(std::max(to.height(), local.height()));
                std::copy_n(from.data(), from.size(), to.tensor().data());
            }
        });
        return step;
    }

private:
    template <class T, class Key, class States>
    static void check_states(KeyedTable<T, Key> const& table, States const& states) {
        for (auto const& [key, state] : states) {
            if (state.get().height() == table.height()) continue;
            throw ShapeError(std::string("states[\"").append(key).append("\"]"),
                             std::to_string(state.get().height()).append(" rows"),
                             std::to_string(table.height()).append(", as value()"));
        }
    }
};

}  // namespace detail

}  // namespace rowan::inline v0
