// rowan/distributed/sharded_table.hpp: ShardedTable, a table of which each rank has some rows.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_reduction.hpp>
#include <rowan/distributed/detail/shard_exchange.hpp>
#include <rowan/distributed/detail/shard_parts.hpp>
#include <rowan/distributed/row_reduce_options.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/partition.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// Of states of S; rowan/distributed/table_files.hpp defines it.
template <class S>
struct TableFiles;

}  // namespace detail

/// A table [partition.height, width], of which each rank has the rows that the partition deals to it; no rank ever
/// holds the whole. All functions that take `exec`, and the constructor, are collective: every rank calls them, in one
/// order.
///
///     ShardedTable<float, Cpu, Mpi> table(comm, {.height = 1'000'000'000, .ranks = comm.size()}, 64, first);
///     ShardedTable<float, Cpu, Mpi>::Lookup lookup;
///     auto const rows = table.gather(exec, ids, lookup);                            // the ids of this rank's batch
///     adagrad(exec, table.local(), moment, table.exchange(exec, lookup, rows_grad)); // moment: as table.local()
///
/// The rows have the same bits for any number of ranks and any partition, if the parts of exchange are the same.
template <class T, class Device, communicator C>
class ShardedTable {
    static_assert(std::same_as<Device, Cpu>, "rowan::ShardedTable: rows lie in the memory of the CPU");

public:
    /// The ids of a gather, for exchange.
    class Lookup {
        friend ShardedTable;
        detail::RowFetch fetch_;
        std::int64_t number_ = 0, table_ = 0;
    };

    /// Calls first(row, values), for each row of this rank, where values is a std::span<T> of `width` elements.
    /// errors   ShapeError on all ranks if the partition or width has a bad number, ranks have different partitions, or
    ///          partition.ranks is not comm.size(); what `first` or the allocation throws, RemoteError on the other
    ///          ranks
    /// cost     the memory of this rank's rows, one call of `first` for each, one agreement
    template <std::invocable<std::int64_t, std::span<T>> F>
    ShardedTable(C comm, Partition partition, std::int64_t width, F const& first)
        : comm_(std::move(comm)), partition_(partition) {
        auto const notices = agree(detail::Collective::table, detail::Told::all, [&](detail::Notice& n) {
            partition_.check();
            if (width < 0) throw ShapeError("width", std::to_string(width), "at least 0");
            if (partition_.ranks != comm_.size())
                throw ShapeError("partition.ranks", std::to_string(partition_.ranks),
                                 std::to_string(comm_.size()).append(", the number of ranks"));
            slots_ = detail::Slots(partition_);
            auto const rows = partition_.rows_of(comm_.rank());
            local_ = Tensor<T>::from_shape({static_cast<std::size_t>(rows), static_cast<std::size_t>(width)});
            for (std::int64_t i = 0; i < rows; ++i) first(partition_.global(comm_.rank(), i), row(i));
            describe(n);
            n.own[0] = partition_.block;
        });
        detail::check_same_number(notices, 0, "partition.block");
        number_ = notices[0].number;
    }

    /// Which rank has which rows.
    Partition const& partition() const& noexcept { return partition_; }
    Partition partition() && noexcept { return partition_; }
    /// This rank's rows, ascending: row i is row partition().global(rank, i) of the table.
    Tensor<T>& local() & noexcept { return local_; }
    Tensor<T> const& local() const& noexcept { return local_; }
    Tensor<T> local() && noexcept { return local_.share(); }

    /// The rows of the table at `ids`, which differ between ranks. Every id is asked for once. `lookup` is for
    /// exchange.
    /// shapes   ids of any shape, also without ids -> ids.shape + [width]
    /// errors   IndexError if an id is not in [0, height), RemoteError on the other ranks; ShapeError on all if ranks
    ///          call it of different tables; `lookup` is unchanged then
    /// cost     a sort of the ids; messages of 8 bytes for each distinct id, and the rows back; one agreement
    Tensor<T> gather(Cpu exec, Ids<> ids, Lookup& lookup) {
        detail::RowFetch fetch;
        Tensor<T> rows, out;
        agree_on_table(detail::Collective::gather, lookups_, [&](detail::Notice& n) {
            detail::check_exec(exec);
            describe(n);
            fetch = detail::RowFetch(exec, partition_, slots_, ids);
            rows = Tensor<T>::from_shape({fetch.plan().rows().size(), local_.row_size()});
            auto shape = fetch.places().shape();
            shape.push_back(local_.row_size());
            out = Tensor<T>::from_shape(shape);
        });
        after_agreement([&] {  // all that may fail is before the last exchange
            detail::GroupOf<C> const group(comm_);
            fetch.ask(group, slots_.splits());
            auto const answers = rowan::gather(exec, local_, fetch.asked());
            fetch.fetch(group, local_.row_size() * sizeof(T), detail::bytes_of(answers), writable(rows));
            detail::take_rows(exec, fetch.places().size(), rows.row_size(), rows.data(), fetch.places().data(),
                              out.data());
        });
        lookup.fetch_ = std::move(fetch);
        lookup.number_ = ++lookups_;
        lookup.table_ = number_;
        return out;
    }

    /// The gradients of this rank's rows, merged, with row numbers as those of local(): for any optimizer but lamb,
    /// which needs the norm of all rows. The parts of rank 0 come first, and so on; the sums are those of sum_of_parts
    /// or merge over all, as row_allreduce.
    /// shapes   SelectedRows of height `height` and rows of `width` elements, none or more -> of height
    ///          local().shape(0)
    /// errors   ShapeError if a height or width differs, or ranks have different orders or tables; RemoteError on the
    ///          other ranks
    /// cost     a merge of each part; every distinct row sent once to its owner; two or three agreements
    SelectedRows<T> exchange(Cpu exec, std::span<SelectedRows<T> const> parts, SumOrder order = SumOrder::parts) const {
        std::unique_ptr<detail::GroupOf<C>> group;
        std::unique_ptr<detail::ShardParts<T>> source;
        std::vector<std::int64_t> splits;
        after_agreement([&] {  // all memory that is needed before the agreement of RowReduction
            group = std::make_unique<detail::GroupOf<C>>(comm_);
            source = std::make_unique<detail::ShardParts<T>>(exec, parts, partition_.height, local_.row_size(), slots_,
                                                             number_);
            splits = slots_.splits();
        });
        detail::RowReduction reduction(std::move(group), exec, std::move(source), {order, Route::owner},
                                       std::move(splits));
        OwnRows result(*this);
        reduction.finish(result);
        return result.rows.result();
    }
    SelectedRows<T> exchange(Cpu exec, SelectedRows<T> const& part, SumOrder order = SumOrder::parts) const {
        return exchange(exec, std::span(&part, 1), order);
    }
    SelectedRows<T> exchange(Cpu exec, std::vector<SelectedRows<T>> const& parts,
                             SumOrder order = SumOrder::parts) const {
        return exchange(exec, std::span<SelectedRows<T> const>(parts), order);
    }

    /// The gradients of this rank's rows, merged, from the gradient of a gather's result: one part for each rank. The
    /// owners know the rows from the gather, so that values alone travel.
    /// shapes   out_grad as the result of the gather -> SelectedRows of height local().shape(0)
    /// errors   ShapeError if out_grad has another shape, `lookup` is of another table, or ranks give the lookups of
    ///          different gathers or call it of different tables; RemoteError on the other ranks
    /// cost     a merge, and a row sent for each distinct id; two agreements
    SelectedRows<T> exchange(Cpu exec, Lookup const& lookup, Tensor<T> const& out_grad) const {
        detail::RowPieces own;
        auto const& plan = lookup.fetch_.plan();
        agree_on_table(detail::Collective::exchange_lookup, lookup.number_, [&](detail::Notice& n) {
            detail::check_exec(exec);
            if (lookup.number_ == 0 || lookup.table_ != number_ || lookup.fetch_.partition() != partition_)
                throw ShapeError("lookup", "not of this table", "one that gather has made");
            auto shape = lookup.fetch_.places().shape();
            shape.push_back(local_.row_size());
            if (out_grad.shape() != shape)
                throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()), detail::shape_text(shape));
            auto const value = out_grad.reshaped({plan.size(), local_.row_size()});
            own = detail::planned_pieces(exec, plan, value, comm_.rank());
            describe(n);
        });
        detail::RowPieces in;
        SelectedRows<T> sums;
        after_agreement([&] { in = lookup.fetch_.give(detail::GroupOf<C>(comm_), std::move(own)); });
        agree_on_end([&] {
            in.height = partition_.rows_of(comm_.rank());
            sums = detail::from_pieces<T>(exec, detail::sum_pieces<T>(exec, in));
        });
        return sums;
    }

    /// Writes the table and states of its optimizer, `<folder>/<name>`, for load on any number of ranks. The folder is
    /// one that all ranks see. Each rank writes a file, and when all are complete, rank 0 replaces the index; until
    /// then the old save is whole, and then it is removed. The program includes <rowan/distributed/table_files.hpp>,
    /// which needs nanopb.
    /// shapes   each state: a row for each row of local()
    /// errors   Error if the name is no file name; ShapeError if ranks have different names, steps or states, or a
    ///          state has other rows; IoError if files cannot be written; RemoteError on the other ranks
    /// cost     as save_checkpoint of this rank's rows and states, three agreements
    template <class S = T>
    void save(std::string const& folder, std::string const& name, std::int64_t step,
              std::map<std::string, Tensor<S>> const& states) const {
        using Files = files_of<S>;
        if constexpr (requires { sizeof(Files); }) Files::save(*this, folder, name, step, states);
    }

    /// Loads what save has written on any number of ranks, and returns its step. `states` says which states to load,
    /// and their shapes. On error, nothing has changed.
    /// errors   FormatError on all ranks if a file is missing, damaged or of another save; ShapeError if height, width
    ///          or the shape of a state differ; TypeError if an element type does; RemoteError on the other ranks
    /// cost     reads the files of all ranks that had rows of this one, and keeps one at a time in memory
    template <class S>
    std::int64_t load(std::string const& folder, std::string const& name, std::map<std::string, Tensor<S>>& states) {
        using Files = files_of<S>;
        if constexpr (requires { sizeof(Files); }) {
            return Files::load(*this, folder, name, states);
        } else {
            return 0;
        }
    }
    template <class S = T>
    std::int64_t load(std::string const& folder, std::string const& name) {
        std::map<std::string, Tensor<S>> none;
        return load(folder, name, none);
    }

private:
    template <class S>
    friend struct detail::TableFiles;
    template <class S>
    static auto files() {
        static_assert(
            requires { sizeof(detail::TableFiles<S>); },
            "rowan::ShardedTable: save and load are in <rowan/distributed/table_files.hpp>: include it");
        return std::type_identity<detail::TableFiles<S>>();
    }
    template <class S>
    using files_of = typename decltype(files<S>())::type;

    template <class F>
    std::vector<detail::Notice> agree(detail::Collective operation, detail::Told told, F const& f) const {
        return detail::agree(detail::GroupOf<C>(comm_), operation, told, f);
    }
    template <class F>
    auto after_agreement(F const& f) const {
        return detail::after_agreement(detail::GroupOf<C>(comm_), f);
    }
    /// Agrees on an operation of the same table, which has had as many lookups.
    template <class F>
    void agree_on_table(detail::Collective operation, std::int64_t lookup, F const& f) const {
        auto const notices = agree(operation, detail::Told::differences, [&](detail::Notice& n) {
            f(n);
            n.own = {number_, lookup, 0};
        });
        detail::check_same_number(notices, 0, "the number of the ShardedTable");
        detail::check_same_number(notices, 1, "the number of the lookup");
    }
    template <class F>
    void agree_on_end(F const& f) const {
        static_cast<void>(detail::agree_on_end(detail::GroupOf<C>(comm_), 0, detail::Told::differences,
                                               [&](detail::Notice&) { f(); }));
    }
    /// The rows of this rank, with their numbers in local().
    struct OwnRows final : detail::RowTarget {
        explicit OwnRows(ShardedTable const& t) : table(t) {}
        void take(detail::RowPieces&& sums) override {
            for (auto& row : sums.rows) row -= table.slots_.splits()[static_cast<std::size_t>(table.comm_.rank())];
            sums.height = table.partition_.rows_of(table.comm_.rank());
            rows.take(std::move(sums));
        }
        Memory make(detail::RowPieces const& like, std::size_t n) override { return rows.make(like, n); }
        ShardedTable const& table;
        detail::RowResult<T> rows;
    };
    void describe(detail::Notice& notice) const {
        notice.same = {dtype<T>::wire, partition_.height, static_cast<std::int64_t>(local_.row_size())};
    }
    std::span<T> row(std::int64_t i) {
        std::size_t const width = local_.row_size();
        return {local_.data() + static_cast<std::size_t>(i) * width, width};
    }
    static std::span<std::byte> writable(Tensor<T>& t) { return std::as_writable_bytes(std::span(t.data(), t.size())); }

    C comm_;
    Partition partition_;
    detail::Slots slots_;
    Tensor<T> local_;
    std::int64_t lookups_ = 0;
    std::int64_t number_ = 0;  // of the table, that of its first agreement on rank 0
};

}  // namespace rowan::inline v0
