// rowan/distributed/sharded_keyed_table.hpp: ShardedKeyedTable, a table by keys of which each rank has some.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/key_fetch.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/distributed/shared_rows.hpp>
#include <rowan/sparse/growing_tensor.hpp>
#include <rowan/sparse/keyed_table.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Of states of S; rowan/distributed/keyed_table_files.hpp defines it.
template <class S>
struct KeyedTableFiles;

}  // namespace detail

/// A table by keys, which grows with them, as KeyedTable, and of which each rank has the rows of some keys: the hash of
/// a key says which. All functions that take `exec`, the constructor, save and load are collective: every rank calls
/// them, in one order, also with empty batches. The others are of this rank's rows. Rows travel as in ShardedTable.
///
///     ShardedKeyedTable<float, std::int64_t, Mpi> table(comm, {.width = 64});
///     auto& sums = table.add_state<float>({});                       // of rowwise_adagrad
///     ShardedKeyedTable<float, std::int64_t, Mpi>::Lookup lookup;
///     auto const rows = table.find_or_insert(exec, keys);            // the keys of this rank's batch
///     auto const x = table.gather(exec, rows, lookup);
///     rowwise_adagrad(exec, table.value(), sums.tensor(), table.gradient(exec, lookup, x_grad));
///
/// Functions gather, exchange and gradient are those of SharedRows. Row i of rank r is row i * ranks + r of the table. Which keys have rows, the rows and the states have the same bits
/// for any number of ranks, if in each call the ranks together give the same keys, and the parts of exchange are the
/// same. Numbers of rows depend on the number of ranks. Ranks may give each its own options.keys.hash_seed.
///
/// Which rank has a key is a public hash, the same for all tables and files. Keys that are chosen so that one rank has
/// them all are answered right, with the same bits, but that rank alone has their memory and work, and the others wait
/// for it. Who takes keys from strangers on several ranks gives the table a keyed hash of them, such as SipHash.
template <class T, key_type Key, communicator C>
class ShardedKeyedTable : public SharedRows<T, C, std::unique_ptr<KeyedTable<T, Key>>> {
    using Base = SharedRows<T, C, std::unique_ptr<KeyedTable<T, Key>>>;
    using Base::local_, Base::group;

public:
    /// States of a table, by names, for files.
    template <class S>
    using States = std::map<std::string, std::reference_wrapper<GrowingTensor<S>>>;

    /// An empty table. `keys.capacity` is the most keys of all ranks together; addresses are reserved for so many on
    /// each.
    /// errors   ValueError for `keys.default_row`, as -1 stands for keys without a row; as KeyedTable; RemoteError on
    ///          the other ranks; ShapeError on all if ranks have different options or keys of another type
    /// cost     O(1), one agreement
    ShardedKeyedTable(C comm, KeyedTableOptions const& options)
        : Base(std::move(comm)), counts_(counted(options.keys)), capacity_(options.keys.capacity) {
        detail::NamedValues same;
        auto const notices =
            detail::agree(group(), detail::Collective::keyed_table, detail::Told::all, [&](detail::Notice& n) {
                if (options.keys.default_row) throw ValueError("keys.default_row", 1, "false in a table on ranks");
                local_ = std::make_unique<KeyedTable<T, Key>>(options);
                same = values_of(options);
                n.same[0] = dtype<T>::wire;
                n.own[0] = same.hash();
            });
        detail::check_same_values(group(), notices, 0, same);
        detail::after_agreement(
            group(), [&] { this->set(detail::Slots(std::vector<std::int64_t>(notices.size())), notices[0].number); });
    }

    /// This rank's keys and rows.
    KeyedTable<T, Key> const& local() const noexcept { return *local_; }
    /// This rank's rows: [local().height(), width].
    Tensor<T>& value() noexcept { return local_->value(); }
    /// Rows that find and find_or_insert give are below it.
    std::int64_t height() const noexcept { return this->slots().height(); }

    /// Adds the state of an optimizer for this rank's rows, as KeyedTable::add_state. All ranks add the same.
    template <class S>
    GrowingTensor<S>& add_state(typename Tensor<S>::shape_type const& row_shape, S first = {}) {
        return local_->template add_state<S>(row_shape, first);
    }
    /// With a name, as KeyedTable::add_state.
    /// errors   as KeyedTable::add_state
    /// cost     as KeyedTable::add_state
    template <class S>
    GrowingTensor<S>& add_state(std::string name, typename Tensor<S>::shape_type const& row_shape, S first = {}) {
        return local_->template add_state<S>(std::move(name), row_shape, first);
    }

    void set_step(std::int64_t step) noexcept { local_->set_step(step); }  ///< as KeyedTable, on all ranks alike
    /// Removes keys of this rank, and returns their rows in value(), as KeyedTable::evict_unused.
    std::vector<std::int64_t> evict_unused(std::int64_t since) { return local_->evict_unused(since); }
    /// Removes keys of this rank, and returns their rows in value(), as KeyedTable::evict_rare.
    std::vector<std::int64_t> evict_rare(std::int64_t count) { return local_->evict_rare(count); }
    /// Removes keys of this rank, and returns their rows in value(), as KeyedTable::erase: keys of others are ignored.
    std::vector<std::int64_t> erase(Keys<Key> keys) { return local_->erase(keys); }

    /// The rows of keys, which differ between ranks; -1 for those that have none.
    /// shapes   keys of any shape, also without keys -> the same
    /// errors   as KeyIndex::find_or_insert but for the capacity, RemoteError on the other ranks; ShapeError on all if
    ///          ranks call it of different tables
    /// cost     a hash table of the batch; each distinct key sent once to its owner, 8 bytes back; one agreement
    Tensor<std::int64_t> find(Cpu exec, Keys<Key> keys) const {
        detail::KeyFetch<Key> fetch;
        ask(detail::Collective::find, exec, keys, false, fetch);
        return detail::after_agreement(group(), [&] {
            auto const rows = local_->index().find(exec, fetch.asked());
            return fetch.answer(exec, group(), rows);
        });
    }

    /// The rows of keys, which differ between ranks; new keys get rows, if the options admit them: as if one rank had
    /// the keys of all.
    /// shapes   keys of any shape, also without keys -> the same
    /// errors   IndexError if the ranks have more keys together than the capacity; as KeyedTable::find_or_insert;
    ///          RemoteError on the other ranks; ShapeError on all if ranks call it of different tables; all ranks'
    ///          tables are unchanged then. Memory that fails while keys travel, or after ranks have agreed, ends all
    /// cost     as find and KeyedTable::find_or_insert; 8 more bytes for each distinct key if the options count; two
    ///          agreements
    Tensor<std::int64_t> find_or_insert(Cpu exec, Keys<Key> keys) {
        detail::KeyFetch<Key> fetch;
        ask(detail::Collective::find_or_insert, exec, keys, counts_, fetch);
        std::optional<typename KeyedTable<T, Key>::View> view;
        auto const grown = [&]() -> KeyIndex<Key> const& {
            try {
                view.emplace(local_->view(exec, fetch.asked(), fetch.times()));
            } catch (IndexError const& e) {  // its position is not in the list of the caller
                throw e.moved_to("keys", IndexError::no_position);
            }
            return local_->index();
        };
        agree_on_growth(detail::Collective::find_or_insert, {}, grown);  // throws on all ranks or on none
        view->commit();
        return detail::after_agreement(group(), [&] { return fetch.answer(exec, group(), view->at()); });
    }

    /// Writes keys, rows, what is recorded of the keys, and states, `<folder>/<name>`, for load on any number of ranks:
    ///     table.save(folder, "users", step, {{"sums", sums}});
    /// Collective. As ShardedTable::save: each rank writes a file, then rank 0 replaces the index. The program includes
    /// <rowan/distributed/keyed_table_files.hpp>, which needs nanopb.
    /// shapes   each state: a row for each row of value()
    /// errors   as ShardedTable::save
    /// cost     as add_keyed_table and save_checkpoint of this rank's rows and states, three agreements
    template <class S = T>
    void save(std::string const& folder, std::string const& name, std::int64_t step,
              States<S> const& states = {}) const {
        using Files = files_of<S>;
        if constexpr (requires { sizeof(Files); }) Files::save(*this, folder, name, step, states);
    }

    /// Replaces the table by what save has written on any number of ranks, and returns its step. `states` says which
    /// states to load; others have their first values then. Keys get other rows than they had. On error, nothing has
    /// changed.
    /// errors   FormatError on all ranks if a file is missing, damaged or of another save, or holds a key that is not
    ///          of its rank or repeats; IndexError on all if there are more keys than the capacity; ShapeError if the
    ///          width or the shape of a state differs, or this table records uses and the saved one did not; TypeError
    ///          if an element type or the type of the keys does; ShapeError on all if they name different states;
    ///          RemoteError on the other ranks
    /// cost     one read of each file, by one rank; every key and row sent once, by pieces of at most 16 MiB; memory for
    ///          the new rows beside the table, and three such pieces; on as many ranks two agreements, else four
    template <class S = T>
    std::int64_t load(std::string const& folder, std::string const& name, States<S> const& states = {}) {
        using Files = files_of<S>;
        if constexpr (requires { sizeof(Files); }) {
            return Files::load(*this, folder, name, states);
        } else {
            return 0;
        }
    }

private:
    template <class S>
    friend struct detail::KeyedTableFiles;
    template <class S>
    static auto files() {
        static_assert(
            requires { sizeof(detail::KeyedTableFiles<S>); },
            "rowan::ShardedKeyedTable: save and load are in <rowan/distributed/keyed_table_files.hpp>: include it");
        return std::type_identity<detail::KeyedTableFiles<S>>();
    }
    template <class S>
    using files_of = typename decltype(files<S>())::type;

    /// Whether it matters how often a key occurs.
    static bool counted(KeyIndexOptions const& o) { return o.record_uses || o.sightings != 1; }

    static detail::NamedValues values_of(KeyedTableOptions const& o) {
        detail::NamedValues all;
        constexpr bool strings = std::same_as<Key, std::string>;
        all.add("the type of keys", std::int64_t{strings ? 2 : std::same_as<Key, std::uint64_t>});
        all.add("options.width", static_cast<std::int64_t>(o.width));
        all.add("options.low", o.low);
        all.add("options.high", o.high);
        all.add("options.seed", static_cast<std::int64_t>(o.seed));
        all.add("options.keys.capacity", o.keys.capacity);
        all.add("options.keys.sightings", o.keys.sightings);
        all.add("options.keys.probability", o.keys.probability);
        all.add("options.keys.record_uses", o.keys.record_uses);
        all.add("options.keys.seed", static_cast<std::int64_t>(o.keys.seed));
        return all;
    }

    /// Tells the owners of keys that this rank looks for them.
    void ask(detail::Collective operation, Cpu exec, Keys<Key> const& keys, bool counts,
             detail::KeyFetch<Key>& fetch) const {
        this->agree_on_table(operation, [&](detail::Notice& n) {
            this->describe(n);
            fetch.deal(exec, keys, this->comm().size(), counts, local_->index().options().hash_seed);
        });
        detail::after_agreement(group(), [&] { fetch.ask(group()); });
    }

    /// Agrees that each rank has the keys and rows of the index that f gives from now on, and a load the same states. Returns
    /// the number of the agreement.
    /// errors   those of f; IndexError on all ranks if there are more keys than the capacity; what has failed on one, RemoteError
    ///          on the others
    template <class F>
    std::int64_t agree_on_growth(detail::Collective operation, detail::NamedValues const& states, F const& f) {
        auto const notices = detail::agree(group(), operation, detail::Told::all, [&](detail::Notice& n) {
            KeyIndex<Key> const& index = f();
            n.own = {std::max(index.height(), local_->height()), static_cast<std::int64_t>(index.size()),
                     states.hash()};
        });
        detail::check_same_values(group(), notices, 2, states);
        std::int64_t keys = 0;
        for (auto const& n : notices) keys += n.own[1];
        if (keys > capacity_)
            throw IndexError("keys", IndexError::no_position, keys,
                             {"of all ranks are more than ", capacity_, ", the capacity"});
        detail::after_agreement(group(), [&] {
            std::vector<std::int64_t> heights;
            for (auto const& n : notices) heights.push_back(n.own[0]);
            this->set(detail::Slots(heights), this->number());
        });
        return notices[0].number;
    }

    bool counts_;
    std::int64_t capacity_;
};

}  // namespace rowan::inline v0
