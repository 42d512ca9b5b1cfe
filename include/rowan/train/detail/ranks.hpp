// rowan/train/detail/ranks.hpp: Ranks, what a training asks of the ranks that train together.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/dense_pieces.hpp>
#include <rowan/detail/named_values.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/train/detail/train_call.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// The parts [begin, end) of a step of `total` parts that a rank runs.
struct PartRange {
    std::int64_t begin, end, total;

    ROWAN_IF_CALLED static PartRange of_rank(std::int64_t total, int rank, int ranks);
    std::int64_t size() const noexcept { return end - begin; }
};

/// Rows of a sharded table, ascending, which a rank asks for; `own` has those of this rank.
struct TableRows {
    Value const* own;
    Placement placement;
    std::span<std::int64_t const> rows;
};

/// A function of the number of a table and positions of rows that this rank has.
using BeforeRead = std::function<void(std::size_t table, Ids<> const& positions)>;

/// Rows of sharded tables that a rank has asked for, whose gradients can go the same way back.
class FetchedTables {
public:
    FetchedTables() = default;
    FetchedTables(FetchedTables const&) = delete;
    FetchedTables& operator=(FetchedTables const&) = delete;
    virtual ~FetchedTables() = default;

    /// Asks for the rows: words[r][1] and [2] are most_of_one and of_others of rank r, or of all ranks if there is one r;
    /// without words, ranks tell their numbers first.
    virtual void ask(std::vector<std::array<std::int64_t, 3>> const& words) = 0;
    /// Goes on with what has come, of rows for the next step or of gradients. Whether nothing is missing of the rows.
    virtual bool progress() = 0;
    /// Waits until the rows for the next step have come that this step does not change, and returns true; or false, on all
    /// ranks, if one has not told its rows. Tables are read until then, and not later.
    virtual bool reach() = 0;
    /// Begins to send the rows that have not come. Calls before(table, positions in `own`) before it reads these for any
    /// rank.
    virtual void begin_rest(std::span<Value const* const> own, BeforeRead const& before) = 0;
    /// Waits for them. `own` is as it was.
    virtual void end_rest(std::span<Value const* const> own) = 0;

    /// Pieces for rows of a table that this rank has asked for, ascending; on all ranks for all of them, or on some for
    /// a part.
    struct Gradient {
        std::size_t table;
        bool all;
        ElementSums type;
        RowPieces node;
    };
    /// Begins to send gradients of the rows to the ranks that have them; all ranks bring those of the same tables, once.
    virtual void begin_sum(std::vector<Gradient>&& gradients) = 0;
    /// Their sums, not narrowed. The pieces of rank r are of the node of parts that begins with keys[r].
    virtual std::vector<RowPieces> end_sum(Cpu exec, std::span<std::int64_t const> keys) = 0;

    int together = 1;                                // so many ranks' gradients of a row are summed first
    std::vector<Value> rows;                         // of each table
    std::vector<std::vector<std::int64_t>> numbers;  // of these rows
    std::int64_t most_of_one = 0, of_others = 0;     // of them: of one other rank at most, and of all others
};

/// A sum over ranks that has begun.
class BegunSum {
public:
    BegunSum() = default;
    BegunSum(BegunSum const&) = delete;
    BegunSum& operator=(BegunSum const&) = delete;
    virtual ~BegunSum() = default;

    /// Whether what this rank sums has come.
    virtual bool test() = 0;
    /// Sums it, and begins to gather the sums of all ranks. Ranks do so for all sums in one order.
    virtual void gather() = 0;
    /// The sum. Called once.
    virtual DensePieces finish() = 0;
};

/// Another thread of this rank. It goes on with exchanges that have begun, until this object ends it.
class ProgressThread {
public:
    ProgressThread() = default;
    ProgressThread(ProgressThread const&) = delete;
    ProgressThread& operator=(ProgressThread const&) = delete;
    virtual ~ProgressThread() = default;

    /// Ends it.
    /// errors   what it has thrown, which has ended all ranks; after another error, only if it has failed on this rank
    virtual void end(bool after_error) = 0;
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

    /// How long this rank waits for others from now on; 0: for ever. Returns how long it has waited before.
    virtual std::chrono::milliseconds be_patient(std::chrono::milliseconds patience) const = 0;
    /// Whether it can wait for less than ever.
    virtual bool can_be_patient() const = 0;
    /// The number of the step that this rank comes to, for those that wait for it.
    virtual void at_step(std::int64_t step) const = 0;

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
    /// Runs f. What it begins, the same on all ranks, travels as one if it is few bytes: of begin_gather, begin_sum and
    /// FetchedTables::begin_sum.
    virtual void as_one(std::function<void()> const& f) const = 0;
    /// Begins out = the ranks' bytes, one after another; rank r brings counts[r]. Returns what waits for it.
    virtual std::function<void()> begin_gather(std::span<std::byte const> in, std::span<std::byte> out,
                                               std::span<std::size_t const> counts) const = 0;
    /// Begins to sum what the ranks have of a step of `total` parts: one piece for each node of the tree that a rank has
    /// all parts of, of the same number of elements.
    virtual std::unique_ptr<BegunSum> begin_sum(Cpu exec, ElementSums const& type, DensePieces&& nodes,
                                                std::int64_t total) const = 0;
    /// The sums of rows, on every rank, or, with a placement, those of the rows that a rank has of a sharded table.
    virtual RowPieces sum(Cpu exec, ElementSums const& type, RowPieces&& nodes, std::int64_t total,
                          Placement const* own) const = 0;
    /// Finds which ranks have these rows of sharded tables, which may differ between ranks, and exchanges nothing.
    virtual std::unique_ptr<FetchedTables> fetch(Cpu exec, std::span<TableRows const> tables) const = 0;
    /// When they have agreed on a training, before the other functions. With `overlap`, functions may overlap with a step:
    /// begin_fetch, and BegunSum::gather.
    virtual void begin(bool overlap) const = 0;
    /// Begins another thread, which also goes on with `ahead` if it is not null, which this thread does not use meanwhile;
    /// or null, if the ranks cannot do so.
    virtual std::unique_ptr<ProgressThread> progress_thread(FetchedTables* ahead) const = 0;
    /// Begins to ask for those of the next step, if `told`, while this step runs, which has asked for rows `now` and
    /// changes no others of these tables, but for those with `waits`, of which it may change any.
    virtual std::unique_ptr<FetchedTables> begin_fetch(Cpu exec, std::span<TableRows const> tables, bool told,
                                                       std::vector<bool> waits, FetchedTables const& now) const = 0;

private:
    virtual void run_or_end(std::function<void()> const& f) const = 0;

    int rank_, size_;
};

/// The patience of a training on ranks, until it ends.
class Patience {
public:
    ROWAN_IF_CALLED Patience(Ranks const* ranks, std::chrono::milliseconds patience);
    Patience(Patience const&) = delete;
    Patience& operator=(Patience const&) = delete;
    ~Patience() {
        if (ranks_ != nullptr) static_cast<void>(ranks_->be_patient(before_));
    }

    /// errors   ValueError if it is negative; Error if these ranks have none
    ROWAN_IF_CALLED void check() const;

private:
    Ranks const* ranks_;
    std::chrono::milliseconds patience_, before_{};
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

/// f(), which a rank calls before all come to an agreement: what it throws is thrown here and, as in the agreement, on
/// all ranks.
template <class F>
auto before_agreement(Ranks const* ranks, TrainCall call, F const& f) {
    try {
        return f();
    } catch (...) {
        if (ranks != nullptr) ranks->agree_on(call, [](NamedValues&) { throw; });
        throw;
    }
}

/// Whether the parts of each rank are one node of the tree, or none, and those of so many ranks together, too.
ROWAN_IF_CALLED bool one_node_each(std::int64_t total, Ranks const& ranks, int together);

/// The rows of a sharded table that this process has, ascending: without ranks, all.
ROWAN_IF_CALLED std::vector<std::int64_t> rows_of(Ranks const* ranks, Variable const& table);

/// Throws an Error on all ranks unless a word is the same on all.
ROWAN_IF_CALLED void check_same_word(std::vector<Ranks::Words> const& all, std::size_t word, char const* what);

/// `width` numbers of each part of a step, its cost and its weights, on their way to all ranks.
class NumbersOfParts {
public:
    /// Begins to send those of this rank's parts. Must not fail.
    ROWAN_IF_CALLED void begin(Ranks const& ranks, std::vector<double> own, std::size_t width, std::int64_t total);
    ROWAN_IF_CALLED std::vector<double> take();

private:
    std::vector<double> own_, all_;
    std::vector<std::size_t> bytes_;
    std::function<void()> wait_;
};

/// Adds the kinds, the dims and numbers for the bits of variables; of those that are sharded no bits. `what` names
/// the values in texts, as in "first value".
/// cost     one read of them
ROWAN_IF_CALLED void add_variables(NamedValues& to, std::span<Variable* const> variables, char const* what);

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/ranks_inl.hpp>
