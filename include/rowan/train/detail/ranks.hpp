// rowan/train/detail/ranks.hpp: Ranks, what a training asks of the ranks that train together.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/dense_pieces.hpp>
#include <rowan/detail/even_cut.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/graph/detail/shard_rows.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/train/detail/train_call.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// The parts [begin, end) of a step of `total` parts that a rank runs.
struct PartRange {
    std::int64_t begin, end, total;

    static PartRange of_rank(std::int64_t total, int rank, int ranks) {
        std::int64_t const r = rank, n = ranks;
        return {even_cut(total, r, n), even_cut(total, r + 1, n), total};
    }
    std::int64_t size() const noexcept { return end - begin; }
};

/// Rows of a sharded table, ascending, which a rank asks for; `own` has those of this rank.
struct TableRows {
    Value const* own;
    Placement placement;
    std::span<std::int64_t const> rows;
};

/// Called with the number of a table and positions in its `own`, before these are read for any rank.
using BeforeRead = std::function<void(std::size_t table, Ids<> const& positions)>;

/// Rows of sharded tables that a rank has asked for, whose gradients can go the same way back.
class FetchedTables {
public:
    FetchedTables() = default;
    FetchedTables(FetchedTables const&) = delete;
    FetchedTables& operator=(FetchedTables const&) = delete;
    virtual ~FetchedTables() = default;

    /// Pieces for rows of a table that this rank has asked for, ascending; on all ranks for all of them, or on some for
    /// a part.
    struct Gradient {
        std::size_t table;
        bool all;
        ElementSums type;
        RowPieces node;
    };
    /// The sums, not narrowed, of gradients of the rows that this rank has; all ranks bring those of the same tables.
    /// The pieces of rank r are of the node of parts that begins with keys[r].
    virtual std::vector<RowPieces> sum(Cpu exec, std::span<Gradient const> gradients,
                                       std::span<std::int64_t const> keys) const = 0;

    std::vector<Value> rows;                         // of each table
    std::vector<std::vector<std::int64_t>> numbers;  // of these rows
};

/// The ranks that train together, more than one: all that a training asks of them. All ranks call the same functions in the
/// same order. rowan/distributed/train.hpp makes one of a communicator.
class Ranks {
public:
    using Words = std::array<std::int64_t, 3>;

    Ranks(int rank, int size) : rank_(rank), size_(size) {}
    Ranks(Ranks const&) = delete;
    Ranks& operator=(Ranks const&) = delete;
    virtual ~Ranks() = default;

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }

    /// Runs f(words) on every rank, and returns the words of all, or of this one alone if they are the same on all. What f
    /// throws on one rank leaves this call there, and an error with its text on the others.
    /// errors   Error on all ranks if ranks come to different calls, or those of different trainers
    virtual std::vector<Words> agree(TrainCall call, std::int64_t trainer,
                                     std::function<void(Words&)> const& f) const = 0;
    /// Runs f(values) on every rank, as agree. Returns a number that only this call has, the same on all ranks.
    /// errors   Error on all ranks if values differ, which names one
    virtual std::int64_t agree_on(TrainCall call, std::function<void(NamedValues&)> const& f) const = 0;

    // The others are for ranks that have agreed, and wait for each other: what fails on one ends all.

    /// Runs f: what it throws ends all ranks.
    template <class F>
    void must(F const& f) const {
        run_or_end(std::cref(f));  // a reference needs no memory
    }
    /// out = the ranks' bytes, one after another; rank r brings counts[r].
    virtual void gather(std::span<std::byte const> in, std::span<std::byte> out,
                        std::span<std::size_t const> counts) const = 0;
    /// Begins to sum what the ranks have of a step of `total` parts: one piece for each node of the tree that a rank has
    /// all parts of, of the same number of elements. Returns what waits for the sum, to be called once.
    virtual std::function<DensePieces()> begin_sum(Cpu exec, ElementSums const& type, DensePieces&& nodes,
                                                   std::int64_t total) const = 0;
    /// The sums of rows, on every rank, or, with a placement, those of the rows that a rank has of a sharded table.
    virtual RowPieces sum(Cpu exec, ElementSums const& type, RowPieces&& nodes, std::int64_t total,
                          Placement const* own) const = 0;
    /// Rows of sharded tables, which may differ between ranks.
    virtual std::unique_ptr<FetchedTables> fetch(Cpu exec, std::span<TableRows const> tables,
                                                 BeforeRead const& before) const = 0;

private:
    virtual void run_or_end(std::function<void()> const& f) const = 0;

    int rank_, size_;
};

/// Runs f(words) on all ranks, as Ranks::agree, or, without ranks, here.
template <class F>
std::vector<Ranks::Words> agree(Ranks const* ranks, TrainCall call, F const& f, std::int64_t trainer = 0) {
    if (ranks != nullptr) return ranks->agree(call, trainer, std::cref(f));
    std::vector<Ranks::Words> alone(1);
    f(alone[0]);
    return alone;
}

/// The same of Ranks::agree_on.
template <class F>
std::int64_t agree_on(Ranks const* ranks, TrainCall call, F const& f) {
    if (ranks != nullptr) return ranks->agree_on(call, std::cref(f));
    NamedValues alone;
    f(alone);
    return 0;
}

/// The rows of a sharded table that this process has, ascending: without ranks, all.
inline std::vector<std::int64_t> rows_of(Ranks const* ranks, Variable const& table) {
    return ranks == nullptr ? rows_of_rank(shards_of(table, 1), 0)
                            : rows_of_rank(shards_of(table, ranks->size()), ranks->rank());
}

/// Throws an Error on all ranks unless a word is the same on all.
inline void check_same_word(std::vector<Ranks::Words> const& all, std::size_t word, char const* what) {
    for (std::size_t r = 1; r < all.size(); ++r) {
        if (all[r][word] != all[0][word])
            throw Error(std::string("train: rank ").append(std::to_string(r)).append(what).append("rank 0"));
    }
}

/// `width` numbers of each part of a step, its cost and its weights, where this rank has those of its parts.
inline std::vector<double> numbers_of_parts(Ranks const* ranks, std::span<double const> own, std::size_t width,
                                            std::int64_t total) {
    if (ranks == nullptr) return {own.begin(), own.end()};
    std::vector<double> all;
    ranks->must([&] {
        all.resize(width * static_cast<std::size_t>(total));
        std::vector<std::size_t> bytes;
        for (int r = 0; r < ranks->size(); ++r)
            bytes.push_back(static_cast<std::size_t>(PartRange::of_rank(total, r, ranks->size()).size()) * width *
                            sizeof(double));
        ranks->gather(std::as_bytes(own), std::as_writable_bytes(std::span(all)), bytes);
    });
    return all;
}

/// Adds the kinds, the dims and numbers for the bits of variables; of those that are sharded no bits. `what` names
/// the values in texts, as in "first value".
/// cost     one read of them
inline void add_variables(NamedValues& to, std::span<Variable* const> variables, char const* what) {
    for (Variable const* const v : variables) {
        to.add(v->name(),
               kind_text(v->spec()).append(shape_text(v->sharded() ? v->spec().dims : v->value().spec().dims)));
        if (v->sharded()) {
            to.add(std::string("the placement of ").append(v->name()), placement_text(v->placement));
            continue;
        }
        Value value = v->value().on_host();
        if (v->spec().type == VarType::SELECTED_ROWS) {
            auto const rows = value.row_numbers();
            to.add(std::string("a hash of the rows of the ").append(what).append(" of ").append(v->name()),
                   hash_of(std::as_bytes(std::span(rows))));
            value = value.row_values();
        }
        to.add(std::string("a hash of the ").append(what).append(" of ").append(v->name()),
               hash_of(value.elements().bytes));
    }
}

}  // namespace rowan::inline v0::detail
