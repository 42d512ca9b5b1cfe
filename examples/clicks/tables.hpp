// clicks/tables.hpp: the rows of the keys of a log: WholeTable, all of them on each rank, and ShardedTable.
#pragma once

#include "log.hpp"

#include <rowan/distributed/keyed_table_files.hpp>
#include <rowan/distributed/row_allreduce.hpp>
#include <rowan/distributed/sharded_keyed_table.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/keyed_table.hpp>
#include <rowan/rowan.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace clicks {

using rowan::Cpu;
using Floats = rowan::Tensor<float>;
using Rows = rowan::Tensor<std::int64_t>;

/// Examples [begin, end) of a batch.
struct Range {
    std::size_t begin, end;

    std::size_t size() const { return end - begin; }
};

/// Part k of n of a range.
inline Range part_of(Range all, std::size_t k, std::size_t n) {
    return {all.begin + all.size() * k / n, all.begin + all.size() * (k + 1) / n};
}

/// The keys of which each table has the rows from the beginning: that of the numbers, and for each category the one that
/// stands for values without a row.
inline std::vector<std::int64_t> rare_keys() {
    std::vector<std::int64_t> keys{numbers_key};
    for (std::size_t column = 0; column < categories; ++column) keys.push_back(rare_key(column));
    return keys;
}

/// Keys without a row get that of the rare values of their column.
inline void replace_unknown(Rows& rows, Rows const& rare) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows.data()[i] < 0) rows.data()[i] = rare(i % vectors);
    }
}

/// A number of all keys of a table, their rows and moments, which does not depend on the order of the rows.
inline std::uint64_t hash_of(rowan::KeyedTable<float> const& table, Floats const& moment) {
    std::uint64_t sum = 0;
    for (std::int64_t const row : table.index().rows()) {
        auto const r = static_cast<std::size_t>(row);
        std::uint64_t hash = rowan::hash_key(table.index().key(row), std::bit_cast<std::uint32_t>(moment(r)));
        for (float const x : table.value().row(r)) hash = rowan::hash_key(std::uint64_t{std::bit_cast<std::uint32_t>(x)}, hash);
        sum += hash;
    }
    return sum;
}

/// Checks that a table that was loaded has the rows of rare_keys.
inline Rows checked_rare(Rows rows) {
    if (std::ranges::any_of(rows, [](auto row) { return row < 0; })) throw BadInput("the table lacks the rows of rare values");
    return rows;
}

/// The gradients of parts of a batch, [n, 27, dim] each, as gradients of the table.
inline std::vector<rowan::SelectedRows<float>> grads_of(std::int64_t height, Rows const& rows, std::span<Floats> parts) {
    std::vector<rowan::SelectedRows<float>> grads;
    std::size_t begin = 0;
    for (Floats& part : parts) {
        std::size_t const end = begin + part.shape()[0], n = (end - begin) * vectors;
        grads.emplace_back(height, rows.slice(begin, end).reshaped({n}), part.reshaped({n, part.shape()[2]}));
        begin = end;
    }
    return grads;
}

inline rowan::AdaGradOptions adagrad_options(double learning_rate) { return {.learning_rate = learning_rate, .epsilon = 1e-8}; }

/// A table with a row for each key of all categories, and the moments of row-wise AdaGrad. Every rank has all rows: it
/// gives rows to the keys of all ranks, and sums the gradients of all.
template <rowan::communicator Comm>
class WholeTable {
public:
    WholeTable(Comm const& comm, rowan::KeyedTableOptions const& options) : comm_(comm), table_(options), moment_(table_.add_state<float>({})) {
        for (std::int64_t k = 0; k < options.keys.sightings; ++k) rare_ = table_.find_or_insert(rare_keys());
    }

    /// The rows of the keys of this rank's examples, `own`, of a batch; new keys of all examples get rows.
    Rows learn(Cpu exec, Rows const& keys, Range own) {
        auto rows = table_.find_or_insert(exec, keys).slice(own.begin, own.end);
        replace_unknown(rows, rare_);
        return rows;
    }
    /// The rows of keys.
    Rows find(Cpu exec, Rows const& keys) const {
        auto rows = table_.index().find(exec, keys);
        replace_unknown(rows, rare_);
        return rows;
    }
    Floats gather(Cpu exec, Rows const& rows) const { return rowan::gather(exec, table_.value(), rows); }

    std::int64_t day() const { return table_.index().step(); }
    /// Begins another day; keys that were not seen for `forget` days lose their rows, unless it is 0.
    void begin_day(std::int64_t day, std::int64_t forget) {
        table_.set_step(day);
        if (forget == 0) return;
        table_.find_or_insert(rare_keys());  // which stay
        table_.evict_unused(day - forget);
    }

    /// A step of row-wise AdaGrad, by the gradients of what gather returned, in parts.
    void update(Cpu exec, Rows const& rows, std::span<Floats> parts, double learning_rate) {
        if (comm_.size() == 1 && parts.size() == 1) {  // the gradient is not copied
            std::size_t const n = rows.size();
            rowan::RowPlan<> const plan(exec, rows.reshaped({n}), table_.height());
            rowan::rowwise_adagrad(exec, plan, table_.value(), moment_.tensor(), parts[0].reshaped({n, parts[0].shape()[2]}), adagrad_options(learning_rate));
        } else {
            auto const sum = rowan::row_allreduce(exec, comm_, grads_of(table_.height(), rows, parts));
            rowan::rowwise_adagrad(exec, table_.value(), moment_.tensor(), sum, adagrad_options(learning_rate));
        }
    }

    std::int64_t keys() const { return static_cast<std::int64_t>(table_.size()); }

    /// A number of all keys, rows and moments, the same for any number of ranks.
    std::uint64_t hash() const { return hash_of(table_, moment_.tensor()); }

    /// Adds the table to the file of a model. The path is that of the file.
    void save(rowan::Checkpoint& to, std::string const&, std::int64_t) const {
        rowan::add_keyed_table(to, "table", table_);
        to.add("table.moment", moment_.tensor());
    }
    static void remove_others(std::string const&, std::int64_t) {}
    void load(rowan::CheckpointFile const& file, std::string const&) {
        if (!file.has("table")) throw BadInput("the model was saved with --shard");
        rowan::load_keyed_table(file, "table", table_);
        moment_.assign(file.load<Floats>("table.moment"));
        rare_ = checked_rare(table_.index().find(rare_keys()));
    }

private:
    Comm const& comm_;
    rowan::KeyedTable<float> table_;
    rowan::GrowingTensor<float>& moment_;
    Rows rare_;
};

/// The same table, of which each rank has the rows of some keys.
template <rowan::communicator Comm>
class ShardedTable {
public:
    ShardedTable(Comm const& comm, rowan::KeyedTableOptions const& options) : comm_(comm), table_(comm, options), moment_(table_.template add_state<float>({})) {
        for (std::int64_t k = 0; k < options.keys.sightings; ++k) insert_rare();
        rare_ = table_.find(Cpu{}, rare_keys());
    }

    Rows learn(Cpu exec, Rows const& keys, Range own) {
        auto rows = table_.find_or_insert(exec, keys.slice(own.begin, own.end));
        replace_unknown(rows, rare_);
        return rows;
    }
    Rows find(Cpu exec, Rows const& keys) const {
        auto rows = table_.find(exec, keys);
        replace_unknown(rows, rare_);
        return rows;
    }
    Floats gather(Cpu exec, Rows const& rows) {
        typename Table::Lookup lookup;
        return table_.gather(exec, rows, lookup);
    }

    std::int64_t day() const { return table_.local().index().step(); }
    void begin_day(std::int64_t day, std::int64_t forget) {
        table_.set_step(day);
        if (forget == 0) return;
        insert_rare();
        table_.evict_unused(day - forget);
    }
    void update(Cpu exec, Rows const& rows, std::span<Floats> parts, double learning_rate) {
        auto const sum = table_.exchange(exec, grads_of(table_.height(), rows, parts));
        rowan::rowwise_adagrad(exec, table_.value(), moment_.tensor(), sum, adagrad_options(learning_rate));
    }

    std::int64_t keys() const { return of_all_ranks(static_cast<std::int64_t>(table_.local().size())); }
    std::uint64_t hash() const { return static_cast<std::uint64_t>(of_all_ranks(static_cast<std::int64_t>(hash_of(table_.local(), moment_.tensor())))); }

    /// The ranks' parts are files beside that of the model, which says by its step which they are.
    void save(rowan::Checkpoint&, std::string const& path, std::int64_t step) const {
        auto const [folder, name] = place_of(path, step);
        table_.save(folder, name, step, {{"moment", moment_}});
    }
    /// Removes the parts of other steps.
    static void remove_others(std::string const& path, std::int64_t step) {
        auto const [folder, name] = place_of(path, step);
        auto const all = std::filesystem::path(path).filename().string() + ".table-";
        for (auto const& file : std::filesystem::directory_iterator(folder)) {
            auto const other = file.path().filename().string();
            if (other.starts_with(all) && !other.starts_with(name)) std::filesystem::remove(file.path());
        }
    }
    void load(rowan::CheckpointFile const& file, std::string const& path) {
        if (file.has("table")) throw BadInput("the model was saved without --shard");
        auto const [folder, name] = place_of(path, file.load<Rows>("step")(0));
        table_.load(folder, name, {{"moment", moment_}});
        rare_ = checked_rare(table_.find(Cpu{}, rare_keys()));
    }

private:
    using Table = rowan::ShardedKeyedTable<float, std::int64_t, Comm>;

    void insert_rare() { table_.find_or_insert(Cpu{}, comm_.rank() == 0 ? rare_keys() : std::vector<std::int64_t>()); }
    std::int64_t of_all_ranks(std::int64_t number) const {
        comm_.sum(std::span(&number, 1));
        return number;
    }
    static std::pair<std::string, std::string> place_of(std::string const& path, std::int64_t step) {
        std::filesystem::path const file(path);
        return {file.has_parent_path() ? file.parent_path().string() : ".", file.filename().string() + ".table-" + std::to_string(step)};
    }

    Comm const& comm_;
    Table table_;
    rowan::GrowingTensor<float>& moment_;
    Rows rare_;
};

}  // namespace clicks
