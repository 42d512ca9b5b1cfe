// rowan/distributed/sharded_table.hpp: ShardedTable, a table of which each rank has some rows.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/distributed/communicator.hpp>
#include <rowan/distributed/detail/agree.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/distributed/shared_rows.hpp>
#include <rowan/sparse/partition.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

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
///     adagrad(exec, table.local(), moment, table.gradient(exec, lookup, rows_grad)); // moment: as table.local()
///
/// Functions gather, exchange and gradient are those of SharedRows. The rows have the same bits for any number of ranks and
/// any partition, if the parts of exchange are the same.
///
/// Where all nodes of the communicator have as many ranks, a power of two above 1, a row that ranks of a node look up in
/// another travels to it once, and one sum of their gradients goes back.
template <class T, class Device, communicator C>
class ShardedTable : public SharedRows<T, C, Tensor<T>> {
    using Base = SharedRows<T, C, Tensor<T>>;
    using Base::local_;
    static_assert(std::same_as<Device, Cpu>, "rowan::ShardedTable: rows lie in the memory of the CPU");

public:
    /// Calls first(row, values), for each row of this rank, where values is a std::span<T> of `width` elements.
    /// errors   ShapeError on all ranks if the partition or width has a bad number, ranks have different partitions, or
    ///          partition.ranks is not comm.size(); what `first` or the allocation throws, RemoteError on the other
    ///          ranks
    /// cost     the memory of this rank's rows, one call of `first` for each, one agreement
    template <std::invocable<std::int64_t, std::span<T>> F>
    ShardedTable(C comm, Partition partition, std::int64_t width, F const& first)
        : Base(std::move(comm)), partition_(partition) {
        detail::Slots slots;
        auto const notices =
            detail::agree(this->group(), detail::Collective::table, detail::Told::all, [&](detail::Notice& n) {
                C const& ranks = this->comm();
                partition_.check();
                if (width < 0) throw ShapeError("width", width, "at least 0");
                if (partition_.ranks != ranks.size())
                    throw ShapeError("partition.ranks", partition_.ranks, {ranks.size(), ", the number of ranks"});
                slots = detail::Slots(partition_);
                auto const rows = partition_.rows_of(ranks.rank());
                local_ = Tensor<T>::from_shape({static_cast<std::size_t>(rows), static_cast<std::size_t>(width)});
                for (std::int64_t i = 0; i < rows; ++i) first(partition_.global(ranks.rank(), i), row(i));
                n.same = {dtype<T>::wire, partition_.height, width};
                n.own[0] = partition_.block;
                n.own[1] = partition_.first;
            });
        detail::check_same_number(notices, 0, "partition.block");
        detail::check_same_number(notices, 1, "partition.first");
        this->set(std::move(slots), notices[0].number);
    }

    /// Which rank has which rows.
    Partition const& partition() const& noexcept { return partition_; }
    Partition partition() && noexcept { return partition_; }
    /// This rank's rows, ascending: row i is row partition().global(rank, i) of the table.
    Tensor<T>& local() & noexcept { return local_; }
    Tensor<T> const& local() const& noexcept { return local_; }
    Tensor<T> local() && noexcept { return local_.share(); }

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
    ///          or the shape of a state differ, local() does not have this rank's rows, or ranks ask for different states;
    ///          TypeError if an element type does; RemoteError on the other ranks
    /// cost     one read of the files, each by one rank, which sends rows of other ranks to them: none if as many
    ///          ranks have saved the table with the same blocks; three agreements. In memory until the end beside the
    ///          old rows the new ones and a few buffers of 16 MiB
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

    std::span<T> row(std::int64_t i) {
        std::size_t const width = local_.row_size();
        return {local_.data() + static_cast<std::size_t>(i) * width, width};
    }

    Partition partition_;
};

}  // namespace rowan::inline v0
