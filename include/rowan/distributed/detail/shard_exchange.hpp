// rowan/distributed/detail/shard_exchange.hpp: Slots, RowFetch and MetRows, rows that lie on several ranks.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/distributed/detail/list_exchange.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>
#include <rowan/sparse/partition.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// The rows of a partition in another order, in which those of a rank are together: slots [splits[r], splits[r + 1])
/// are rank r's, and a row's slot is splits[owner] + local.
class Slots {
public:
    Slots() = default;
    explicit Slots(Partition const& partition);
    /// Of a table that grows: row i of the heights[r] rows of rank r is row i * ranks + r, and row -1 is none.
    explicit Slots(std::span<std::int64_t const> heights);

    std::vector<std::int64_t> const& splits() const { return splits_; }
    std::int64_t height() const { return partition_.height; }  ///< rows are below it
    std::int64_t size() const { return splits_.back(); }       ///< the number of rows that there are
    std::int64_t rows_of(int rank) const {
        auto const r = static_cast<std::size_t>(rank);
        return splits_[r + 1] - splits_[r];
    }
    bool grows() const { return grows_; }
    /// The slots of rows; size() for none.
    /// errors   IndexError for the first that is not a row of the table
    Buffer<std::int64_t> of(Cpu exec, char const* field, Ids<> const& rows) const;

private:
    Partition partition_;
    std::vector<std::int64_t> splits_;
    bool grows_ = false;
};

/// The ids of a lookup, and which rows they make travel. Every id is asked for once; rows of this rank do not travel.
class RowFetch {
public:
    RowFetch() = default;
    /// errors   IndexError if an id is not a row of the table
    RowFetch(Cpu exec, Slots const& slots, int rank, char const* field, Ids<> const& ids);

    /// Tells the owners the rows of several tables.
    /// cost     two exchanges
    static void ask(ProcessGroup const& group, std::span<RowFetch> tables);
    /// The same in one exchange: rank r sends room for most[r] rows to each other rank, and asks none for more.
    static void ask(ProcessGroup const& group, std::span<RowFetch> tables, std::span<std::size_t const> most);
    /// The same in steps, for exchanges that go on meanwhile, when ranks have told each other wanted_counts(). The numbers
    /// of these rows, where rank r asks table k for counts[r * stride + k]; `wanted` has those for others;
    static std::vector<ListExchange> ask_for(std::span<RowFetch> tables, std::span<std::size_t const> counts,
                                             std::size_t stride, std::vector<std::vector<std::int64_t>>& wanted);
    /// and these have come.
    void has_been_asked();
    /// Sends the rows that were asked for, answers[i] is that of asked()[i], and receives received() others.
    ListExchange fetch(std::size_t row_bytes, std::span<std::byte const> answers, std::span<std::byte> rows) const {
        return {row_bytes, answers, receive_, rows.first(received() * row_bytes), send_};
    }
    /// The other way: a piece for each row that fetch received goes to its owner, which receives those of asked().
    ListExchange give(std::size_t row_bytes, std::span<std::byte const> pieces, std::span<std::byte> in) const {
        return {row_bytes, pieces.first(received() * row_bytes), send_, in, receive_};
    }
    /// Of slots. The last of its rows may be none.
    RowPlan<> const& plan() const { return plan_; }
    Tensor<std::int64_t>::shape_type const& shape() const { return places_.shape(); }  ///< of the ids
    std::size_t received() const { return total(send_); }  ///< the number of distinct rows of other ranks
    std::size_t others() const { return plan_.rows().size() - own_.size(); }  ///< the same, and one more if an id is -1
    std::size_t own_begin() const { return own_begin_; }                      ///< of own() in plan().rows()
    Buffer<std::int64_t> const& own() const { return own_; }      ///< distinct rows of this rank, as in its table
    Buffer<std::int64_t> const& asked() const { return asked_; }  ///< the same that other ranks want, rank 0's first
    std::vector<std::size_t> const& asked_counts() const { return receive_; }  ///< of each rank
    std::vector<std::size_t> const& wanted_counts() const { return send_; }    ///< of the rows of other ranks, of each
    /// Where a row of plan() is: below others(), among those that others have; or others() plus its number in own().
    std::size_t place(std::size_t k) const {
        if (k < own_begin_) return k;
        return k < own_begin_ + own_.size() ? k - own_begin_ + others() : k - own_.size();
    }

    /// The address of the row of id i: in this rank's table, or among the others that have come.
    struct Rows {
        std::byte const *table, *came;
        std::int64_t const* places;
        std::size_t bytes;

        std::byte const* operator()(std::size_t i) const {
            std::int64_t const at = places[i];
            return at >= 0 ? table + static_cast<std::size_t>(at) * bytes
                           : came + static_cast<std::size_t>(~at) * bytes;
        }
    };
    Rows rows(void const* table, void const* came, std::size_t bytes) const {
        return {static_cast<std::byte const*>(table), static_cast<std::byte const*>(came), places_.data(), bytes};
    }

private:
    RowPlan<> plan_;
    Tensor<std::int64_t> places_;  // for each id, its row in the table of this rank, or ~i of the others
    std::size_t own_begin_ = 0;    // of plan_.rows()
    std::int64_t first_slot_ = 0;  // of this rank
    std::vector<std::size_t> send_, receive_;
    Buffer<std::int64_t> own_, asked_;
};

/// The rows of this rank that its lookup or those of others name, and the pieces that each has for them: the sum of its
/// contributions.
class MetRows {
public:
    MetRows() = default;
    /// Of the rows in fetch.own() or asked(), only those with a nonzero number in a list; an empty list names all.
    /// cost     a merge of the lists of the ranks
    MetRows(RowFetch const& fetch, int rank, std::span<std::uint8_t const> own = {},
            std::span<std::uint8_t const> asked = {});

    Buffer<std::int64_t> const& rows() const { return rows_; }  ///< distinct, ascending
    /// Where a row of fetch.own() is in rows(), or after those, one of of_others().
    std::size_t place(std::size_t i) const { return i < places_.size() ? places_[i] : of_others_[i - places_.size()]; }
    /// Those in rows() of which other ranks have pieces, ascending.
    std::vector<std::size_t> const& of_others() const { return of_others_; }
    /// Whether other ranks have a piece of row i of fetch.own().
    bool others_have(std::size_t i) const { return shared_[i] != 0; }

    /// Where pieces are, each of so many bytes: that of fetch.asked()[i] is came[i]; own(i) is the address of that of
    /// fetch.own()[i]. Rank r brings the node of parts that begins with keys[r].
    struct Pieces {
        ElementSums type;
        std::size_t bytes;
        std::byte const* came;
        std::function<std::byte const*(std::size_t)> own;
        std::span<std::int64_t const> keys;

        /// Sums pieces.
        TreeSum tree() const { return {type, bytes / type.sum_bytes, *std::ranges::max_element(keys)}; }
    };
    /// The sum of row k: the address of the only piece, or `to`, where it is written.
    std::byte const* sum_of(std::size_t k, Pieces const& pieces, TreeSum& tree, std::byte* to) const;
    /// Writes the sums of all rows.
    void sum(Cpu exec, Pieces const& pieces, std::byte* out) const;

private:
    std::span<std::size_t const> pieces_of(std::size_t k) const {
        return std::span(pieces_).subspan(offsets_[k], offsets_[k + 1] - offsets_[k]);
    }
    std::size_t own_begin() const { return own_rank_ == 0 ? 0 : ends_[own_rank_ - 1]; }
    bool is_own(std::size_t piece) const { return piece >= own_begin() && piece < ends_[own_rank_]; }

    std::vector<std::size_t> ends_;  // of each rank's pieces, which are numbered, rank 0's first
    std::size_t own_rank_ = 0;
    Buffer<std::int64_t> rows_;
    std::vector<std::size_t> offsets_, pieces_;  // row k: pieces_[offsets_[k]] …
    std::vector<std::size_t> places_, of_others_;
    std::vector<std::uint8_t> shared_;  // of fetch.own()
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/shard_exchange_inl.hpp>
