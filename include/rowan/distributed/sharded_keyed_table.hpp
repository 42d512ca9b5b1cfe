// rowan/distributed/sharded_keyed_table.hpp: ShardedKeyedTable, a table by keys of which each rank has some.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/key_fetch.hpp>
#include <rowan/distributed/detail/row_shards.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/distributed/shard_gradient.hpp>
#include <rowan/sparse/growing_tensor.hpp>
#include <rowan/sparse/keyed_table.hpp>
#include <rowan/sparse/selected_rows.hpp>

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
/// Row i of rank r is row i * ranks + r of the table. Which keys have rows, the rows and the states have the same bits
/// for any number of ranks, if in each call the ranks together give the same keys, and the parts of exchange are the
/// same. Numbers of rows depend on the number of ranks. Ranks may give each its own options.keys.hash_seed.
///
/// Which rank has a key is a public hash, the same for all tables and files. Keys that are chosen so that one rank has
/// them all are answered right, with the same bits, but that rank alone has their memory and work, and the others wait
/// for it. Who takes keys from strangers on several ranks gives the table a keyed hash of them, such as SipHash.
template <class T, key_type Key, communicator C>
class ShardedKeyedTable {
public:
    using Lookup = detail::RowLookup;  ///< the rows of a gather, for exchange
    /// States of a table, by names, for files.
    template <class S>
    using States = std::map<std::string, std::reference_wrapper<GrowingTensor<S>>>;

    /// An empty table. `keys.capacity` is the most keys of all ranks together; addresses are reserved for so many on
    /// each.
    /// errors   ValueError for `keys.default_row`, as -1 stands for keys without a row; as KeyedTable; RemoteError on
    ///          the other ranks; ShapeError on all if ranks have different options or keys of another type
    /// cost     O(1), one agreement
    ShardedKeyedTable(C comm, KeyedTableOptions const& options)
        : shards_(std::move(comm)), counts_(counted(options.keys)), capacity_(options.keys.capacity) {
        detail::NamedValues same;
        auto const notices =
            detail::agree(shards_.group(), detail::Collective::keyed_table, detail::Told::all, [&](detail::Notice& n) {
                if (options.keys.default_row) throw ValueError("keys.default_row", 1, "false in a table on ranks");
                local_ = std::make_unique<KeyedTable<T, Key>>(options);
                same = values_of(options);
                n.same[0] = dtype<T>::wire;
                n.own[0] = same.hash();
            });
        detail::check_same_values(shards_.group(), notices, 0, same);
        detail::after_agreement(shards_.group(), [&] {
            shards_.set(detail::Slots(std::vector<std::int64_t>(notices.size())), notices[0].number);
        });
    }

    /// This rank's keys and rows.
    KeyedTable<T, Key> const& local() const noexcept { return *local_; }
    /// This rank's rows: [local().height(), width].
    Tensor<T>& value() noexcept { return local_->value(); }
    /// Rows that find and find_or_insert give are below it.
    std::int64_t height() const noexcept { return shards_.slots().height(); }

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
        return detail::after_agreement(shards_.group(), [&] {
            auto const rows = local_->index().find(exec, fetch.asked());
            return fetch.answer(exec, shards_.group(), rows);
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
        bool told = false;
        try {
            view.emplace(local_->view(exec, fetch.asked(), fetch.times()));
            told = true;
            agree_on_growth(detail::Collective::find_or_insert, local_->index(), {});  // throws on all ranks or on none
        } catch (...) {
            if (!told) {
                detail::agree(shards_.group(), detail::Collective::find_or_insert, detail::Told::all,
                              [](detail::Notice&) {
                                  try {
                                      throw;
                                  } catch (IndexError const& e) {  // its position is not in the list of the caller
                                      throw e.moved_to("keys", IndexError::no_position);
                                  }
                              });
            }
            throw;
        }
        view->commit();
        return detail::after_agreement(shards_.group(),
                                       [&] { return fetch.answer(exec, shards_.group(), view->at()); });
    }

    /// The rows of the table with these numbers, as find and find_or_insert give them; zeros for -1. Every row is asked
    /// for once. `lookup` is for exchange, also when the table has grown since.
    /// shapes   rows of any shape, also without rows -> rows.shape + [width]
    /// errors   IndexError if a number is neither -1 nor a row of the table, RemoteError on the other ranks; ShapeError
    ///          on all if ranks call it of different tables; `lookup` is unchanged then
    /// cost     a sort of the rows; 8 bytes for each distinct row of other ranks, and these rows back; one agreement
    Tensor<T> gather(Cpu exec, Ids<> rows, Lookup& lookup) {
        return shards_.gather(exec, local_->value(), "rows", rows, lookup);
    }

    /// The gradients of this rank's rows, merged, with row numbers as those of value(): for any optimizer but lamb. The
    /// parts of rank 0 come first, and so on; the sums are those of sum_of_parts or merge over all, as row_allreduce.
    /// shapes   SelectedRows of a height up to height() and rows of `width` elements, none or more -> of height
    ///          local().height()
    /// errors   ShapeError if a height or width differs, or ranks have different orders or tables; IndexError for a
    ///          number that is not a row of the table; RemoteError on the other ranks
    /// cost     a merge of each part; every distinct row sent once to its owner; two or three agreements
    SelectedRows<T> exchange(Cpu exec, std::span<SelectedRows<T> const> parts, SumOrder order = SumOrder::parts) const {
        return shards_.exchange(exec, local_->value().row_size(), parts, order);
    }
    SelectedRows<T> exchange(Cpu exec, SelectedRows<T> const& part, SumOrder order = SumOrder::parts) const {
        return exchange(exec, std::span(&part, 1), order);
    }
    SelectedRows<T> exchange(Cpu exec, std::vector<SelectedRows<T>> const& parts,
                             SumOrder order = SumOrder::parts) const {
        return exchange(exec, std::span<SelectedRows<T> const>(parts), order);
    }

    /// The gradients of this rank's rows, merged, from the gradient of a gather's result: one part for each rank. Those
    /// of keys without a row take no part in it.
    /// shapes   out_grad as the result of the gather -> SelectedRows of height local().height()
    /// errors   ShapeError if out_grad has another shape, `lookup` is of another table or from before a load, or ranks
    ///          give the lookups of different gathers or call it of different tables; RemoteError on the other ranks
    /// cost     a merge, and a row sent for each distinct row of other ranks; two agreements
    SelectedRows<T> exchange(Cpu exec, Lookup const& lookup, Tensor<T> const& out_grad) const {
        return shards_.exchange(exec, local_->value().row_size(), lookup, out_grad);
    }

    /// The gradient of this rank's rows for one step of an optimizer, which sums and changes each row in one pass: see
    /// the example.
    /// shapes   out_grad as the result of the gather -> a gradient of height local().height()
    /// errors   those of exchange of a lookup
    /// cost     the sums of rows of other ranks, which travel, and a merge of this rank's rows that others have asked
    ///          for; one agreement. It shares the memory of out_grad and of the lookup
    ShardGradient<T> gradient(Cpu exec, Lookup const& lookup, Tensor<T> const& out_grad) const {
        return shards_.gradient(exec, local_->value().row_size(), lookup, out_grad);
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
        shards_.agree_on_table(operation, [&](detail::Notice& n) {
            shards_.describe(n, local_->value().row_size());
            fetch.deal(exec, keys, shards_.comm().size(), counts, local_->index().options().hash_seed);
        });
        detail::after_agreement(shards_.group(), [&] { fetch.ask(shards_.group()); });
    }

    /// Agrees that each rank has the keys and rows of an index from now on, and a load the same states. Returns the
    /// number of the agreement.
    /// errors   IndexError on all ranks if there are more keys than the capacity; what has failed on one, RemoteError
    ///          on the others
    std::int64_t agree_on_growth(detail::Collective operation, KeyIndex<Key> const& index,
                                 detail::NamedValues const& states) {
        auto const notices = detail::agree(shards_.group(), operation, detail::Told::all, [&](detail::Notice& n) {
            n.own = {std::max(index.height(), local_->height()), static_cast<std::int64_t>(index.size()),
                     states.hash()};
        });
        detail::check_same_values(shards_.group(), notices, 2, states);
        std::int64_t keys = 0;
        for (auto const& n : notices) keys += n.own[1];
        if (keys > capacity_)
            throw IndexError("keys", IndexError::no_position, keys,
                             {"of all ranks are more than ", capacity_, ", the capacity"});
        detail::after_agreement(shards_.group(), [&] {
            std::vector<std::int64_t> heights;
            for (auto const& n : notices) heights.push_back(n.own[0]);
            shards_.set(detail::Slots(heights), shards_.number());
        });
        return notices[0].number;
    }

    detail::RowShards<T, C> shards_;
    bool counts_;
    std::int64_t capacity_;
    std::unique_ptr<KeyedTable<T, Key>> local_;
};

}  // namespace rowan::inline v0
