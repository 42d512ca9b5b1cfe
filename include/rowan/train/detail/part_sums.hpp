// rowan/train/detail/part_sums.hpp: PartSums, the gradients of the parts of a step, summed.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/dense_pieces.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/train/detail/gradient_nodes.hpp>
#include <rowan/train/detail/gradient_sums.hpp>
#include <rowan/train/detail/ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Gradients of rows that were fetched.
struct FetchedGradients {
    struct One {
        std::size_t table, gradient;
        bool all;  // whether all ranks have all rows that they have fetched
    };
    FetchedTables* tables = nullptr;
    std::vector<One> list = {};
    bool early = false;  // whether they travel while the net runs
    bool begun = false;
};

/// Which of some rows a gradient has.
enum class RowsOf { others, some, all };

/// Dense gradients of one element type, which travel as one: pieces of the elements of all.
struct FusedSums {
    std::vector<std::size_t> which;
    std::vector<std::size_t> elements;  // of each
    std::size_t bytes = 0;              // of all
    std::size_t ready = 0;              // after so many operators all are computed
    std::unique_ptr<BegunSum> sum = {};
    bool gathers = false;
};

/// The gradients of the parts of a step, weighed and summed as a binary tree over the numbers of the parts. After
/// n parts, at most log2 n sums and one are in memory.
class PartSums {
public:
    ROWAN_IF_CALLED void sum(GradientSums const& sums, Variable& gradient, Variable const& like, Placement const* own);
    /// The sums of ranks may begin while the net runs: gradient i is computed by its first ready[i] operators.
    void overlap(std::vector<std::size_t> ready) { ready_ = std::move(ready); }

    /// Begins a step of which these parts are added.
    ROWAN_IF_CALLED void begin(PartRange const& parts);

    /// What the gradients of a part are multiplied by; nothing for one that counts nothing.
    using Weights = std::vector<std::optional<double>>;

    /// Adds the gradients of the next part, each times its weight.
    ROWAN_IF_CALLED void add(Cpu exec, Weights const& weights);

    /// Of the last part of this rank, when so many operators of the net have run: adds the dense gradients that are
    /// computed and begins to sum those of which enough are. `weights` are those of the part.
    ROWAN_IF_CALLED void begin_sums(Cpu exec, std::size_t operators, std::function<Weights()> const& weights,
                                    Ranks const& ranks, FetchedGradients& fetched);
    /// Begins to sum what has not begun. Ranks have agreed that all have added theirs; `fetched` tells gradients of which
    /// all have rows that they have fetched.
    ROWAN_IF_CALLED void begin_rest(Cpu exec, Ranks const& ranks, FetchedGradients& fetched);
    /// Goes on with what has come of these sums.
    ROWAN_IF_CALLED void progress();
    /// Begins those that have not begun on this rank, which has no parts or has failed: with zeros.
    ROWAN_IF_CALLED void begin_with_zeros(Cpu exec, Ranks const& ranks, PartRange const& parts,
                                          FetchedGradients& fetched);
    /// After an error on this rank or another: ends them, of which all have begun on all ranks.
    ROWAN_IF_CALLED void drop() noexcept;

    /// Whether ranks get the sums of their own rows alone.
    bool goes_to_owners(std::size_t i) const { return nodes_[i].own != nullptr; }

    /// Which of these rows, which ascend, gradient i has, if this rank has one sum of it or none, and ranks get the sums of
    /// their own rows; else RowsOf::others.
    ROWAN_IF_CALLED RowsOf rows_of(std::size_t i, std::span<std::int64_t const> rows) const;

    /// The sums of all parts, each divided by its divisor, on the device of the net. With ranks, after begin_rest.
    ROWAN_IF_CALLED std::vector<Value> means(Cpu exec, AnyExec device, std::span<double const> divisors,
                                             Ranks const* ranks, FetchedGradients& fetched);

private:
    ROWAN_IF_CALLED std::vector<Value> sum_of_ranks(Cpu exec, AnyExec device, std::span<double const> divisors,
                                                    Ranks const& ranks, FetchedGradients& fetched);
    /// Begins to gather the sums that progress() has not, in the order and by the group of all ranks.
    ROWAN_IF_CALLED void gather_others();
    ROWAN_IF_CALLED std::size_t ready_of(FetchedGradients const& fetched) const;
    ROWAN_IF_CALLED void begin_fetched(Cpu exec, FetchedGradients& fetched);
    ROWAN_IF_CALLED void fuse();
    ROWAN_IF_CALLED void begin_sum(Cpu exec, FusedSums& fused, std::vector<DensePieces>&& parts,
                                   Ranks const& ranks) const;

    std::vector<GradientNodes> nodes_;
    std::vector<std::size_t> ready_;  // empty: sums begin when all gradients are there
    std::vector<FusedSums> fused_;
    std::vector<bool> added_;  // of the part
    PartRange parts_{};
    std::int64_t next_ = 0;
};

/// Checks the next value of a moving statistic, a mean over parts whose weighed sum may be infinite where they are not.
/// errors   ValueError if an element of float or double is infinite, and the present one is not
void check_moved(Variable& now, Value& next);

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/part_sums_inl.hpp>
