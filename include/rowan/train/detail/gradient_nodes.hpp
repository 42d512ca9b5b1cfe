// rowan/train/detail/gradient_nodes.hpp: GradientNodes, the sums of a gradient over the parts of a rank.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/dense_pieces.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/partition.hpp>
#include <rowan/train/detail/gradient_sums.hpp>
#include <rowan/train/detail/ranks.hpp>

#include <cstdint>
#include <optional>
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

    ROWAN_IF_CALLED Tensor<std::int64_t>::shape_type shape() const;
    /// Adds the gradient of the next of these parts, times its weight; without one, nothing, also if it is NaN.
    ROWAN_IF_CALLED void add(Cpu exec, std::optional<double> weight, std::int64_t part, PartRange const& parts);
    /// The sums of the nodes of which these parts are all the leaves.
    ROWAN_IF_CALLED DensePieces dense_of(Cpu exec, PartRange const& parts);
    ROWAN_IF_CALLED RowPieces sparse_of(Cpu exec, PartRange const& parts);
    /// The sum of all parts, of elements dtype<T>::sum, divided.
    ROWAN_IF_CALLED Value value_of(Cpu exec, AnyExec device, DensePieces&& sum, double divisor) const;
    ROWAN_IF_CALLED Value value_of(Cpu exec, AnyExec device, RowPieces&& sum, double divisor) const;

private:
    /// Without pieces.
    ROWAN_IF_CALLED DensePieces no_elements() const;
    ROWAN_IF_CALLED RowPieces no_rows() const;
};

}  // namespace rowan::inline v0::detail

#include <rowan/train/detail/gradient_nodes_inl.hpp>
