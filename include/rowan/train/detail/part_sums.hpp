// rowan/train/detail/part_sums.hpp: PartSums, the gradients of the parts of a step, summed.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/detail/dense_pieces.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/train/detail/gradient_sums.hpp>
#include <rowan/train/detail/ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// The sums of one gradient over the parts that a rank has, one for each node of the tree that it has all parts of.
struct GradientNodes {
    GradientSums sums;
    Variable* gradient;    // of a part
    Variable const* like;  // its value has the shape of the gradient
    bool sparse;
    Placement const* own;  // of the rows, if a rank gets the sums of its rows alone
    std::vector<DensePieces> dense_nodes = {};
    std::vector<RowPieces> sparse_nodes = {};

    Tensor<std::int64_t>::shape_type shape() const;
    /// Adds the gradient of a part, times its weight.
    void add(Cpu exec, double weight, std::int64_t part, std::int64_t first);
    /// The sums of the nodes of which these parts are all the leaves.
    DensePieces dense_of(Cpu exec, PartRange const& parts);
    RowPieces sparse_of(Cpu exec, PartRange const& parts);
    /// The sum of all parts, of elements dtype<T>::sum, divided.
    Value value_of(Cpu exec, AnyExec device, DensePieces&& sum, double divisor) const;
    Value value_of(Cpu exec, AnyExec device, RowPieces&& sum, double divisor) const;
};

/// Gradients of rows that were fetched.
struct FetchedGradients {
    struct One {
        std::size_t table, gradient;
        bool all;  // whether all ranks have all rows that they have fetched
    };
    FetchedTables const* tables = nullptr;
    std::vector<One> list = {};
};

/// Which of some rows a gradient has.
enum class RowsOf { others, some, all };

/// The gradients of the parts of a step, weighed and summed as a binary tree over the numbers of the parts. After
/// n parts, at most log2 n sums and one are in memory.
class PartSums {
public:
    void sum(GradientSums const& sums, Variable& gradient, Variable const& like, Placement const* own);

    /// Begins a step of which these parts are added.
    void begin(PartRange const& parts);

    /// Adds the gradients of the next part, each times its weight.
    void add(Cpu exec, std::span<double const> weights);

    /// Which of these rows, which ascend, gradient i has, if this rank has one sum of it or none, and ranks get the sums of
    /// their own rows; else RowsOf::others.
    RowsOf rows_of(std::size_t i, std::span<std::int64_t const> rows) const;

    /// The sums of all parts, each divided by its divisor, on the device of the net. With ranks, these have agreed that
    /// all have added theirs; `fetched` tells gradients of which all have rows that they have fetched.
    std::vector<Value> means(Cpu exec, AnyExec device, std::span<double const> divisors, Ranks const* ranks,
                             FetchedGradients const& fetched = {});

private:
    std::vector<Value> sum_of_ranks(Cpu exec, AnyExec device, std::span<double const> divisors, Ranks const& ranks,
                                    FetchedGradients const& fetched);

    std::vector<GradientNodes> nodes_;
    PartRange parts_{};
    std::int64_t next_ = 0;
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/part_sums_inl.hpp>
