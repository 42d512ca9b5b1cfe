// rowan/distributed/detail/met_rows.hpp: MetRows, rows that several ranks have named.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/detail/tree_sum.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Distinct rows that ascend, for which a rank has pieces.
struct RowsOfRank {
    std::size_t rank;
    std::span<std::int64_t const> rows;
};

/// The rows that this rank or others name, and the pieces that each has for them: the sum of its contributions. Pieces
/// are numbered: those of others, one list after another, and then this rank's own.
class MetRows {
public:
    MetRows() = default;
    /// The lists are of different ranks. Only rows with a nonzero number in `which` and `own_which`; if both are empty, all.
    /// cost     a merge of the lists
    ROWAN_IF_CALLED MetRows(std::span<RowsOfRank const> others, RowsOfRank const& own,
                            std::span<std::uint8_t const> which = {}, std::span<std::uint8_t const> own_which = {});

    Buffer<std::int64_t> const& rows() const { return rows_; }  ///< distinct, ascending
    /// The pieces of row k, in the order of ranks.
    ROWAN_IF_CALLED std::span<std::size_t const> pieces_of(std::size_t k) const;
    /// Where a row of own.rows is in rows(), or after those, one of of_others().
    std::size_t place(std::size_t i) const { return i < places_.size() ? places_[i] : of_others_[i - places_.size()]; }
    /// Those in rows() of which other ranks have pieces, ascending.
    std::vector<std::size_t> const& of_others() const { return of_others_; }
    /// Whether other ranks have a piece of row i of own.rows.
    bool others_have(std::size_t i) const { return shared_[i] != 0; }

    /// Where pieces are, each of so many bytes: piece i of others is came[i]; own(i) is the address of that of
    /// own.rows[i]. Rank r brings the node of parts that begins with keys[r].
    struct Pieces {
        ElementSums type;
        std::size_t bytes;
        std::byte const* came;
        std::function<std::byte const*(std::size_t)> own;
        std::span<std::int64_t const> keys;

        /// Sums pieces.
        ROWAN_IF_CALLED TreeSum tree() const;
        /// One for each of n threads.
        ROWAN_IF_CALLED std::vector<TreeSum> trees(std::size_t n) const;
    };
    /// The sum of row k: the address of the only piece, or `to`, where it is written.
    ROWAN_IF_CALLED std::byte const* sum_of(std::size_t k, Pieces const& pieces, TreeSum& tree, std::byte* to) const;
    /// Writes the sums of all rows.
    ROWAN_IF_CALLED void sum(Cpu exec, Pieces const& pieces, std::byte* out) const;

private:
    std::size_t own_begin() const { return ends_.empty() ? 0 : ends_.back(); }

    std::vector<std::size_t> ends_, ranks_;  // of each list of others
    std::size_t own_rank_ = 0;
    Buffer<std::int64_t> rows_;
    std::vector<std::size_t> offsets_, pieces_;  // row k: pieces_[offsets_[k]] …
    std::vector<std::size_t> places_, of_others_;
    std::vector<std::uint8_t> shared_;  // of own rows
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/met_rows_inl.hpp>
