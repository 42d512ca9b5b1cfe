// rowan/train/detail/gradient_nodes_inl.hpp: the functions of gradient_nodes.hpp.
#pragma once

#include <rowan/train/detail/gradient_nodes.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/tree_sum.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

/// Appends the sum of a part, and adds up those of one node of which there are all parts since the first; after the last
/// part of a step, no other parts are missing.
template <class Pieces>
void append_part(Cpu exec, ElementSums const& type, std::vector<Pieces>& nodes, Pieces&& part, std::int64_t number,
                 PartRange const& parts) {
    nodes.push_back(std::move(part));
    std::size_t const want = firsts_of_nodes(parts.begin, number + 1, parts.total).size();
    if (nodes.size() == want) return;
    auto sum = sum_pieces(exec, type, std::span(nodes).subspan(want - 1));
    nodes.resize(want);
    nodes.back() = std::move(sum);
}

/// The sums of the nodes of which `parts` are all the leaves.
template <class Pieces>
Pieces sums_of_nodes(Cpu exec, ElementSums const& type, std::vector<Pieces>&& nodes, PartRange const& parts) {
    if (nodes.size() == 1) return std::move(nodes[0]);
    return sum_pieces(exec, type, nodes, whole_nodes(parts.begin, parts.end, parts.total));
}

ROWAN_CALLED_FUNCTION Tensor<std::int64_t>::shape_type GradientNodes::shape() const {
    Tensor<std::int64_t>::shape_type shape;
    for (std::int64_t const dim : like->value().spec().dims) shape.push_back(static_cast<std::size_t>(dim));
    return shape;
}

ROWAN_CALLED_FUNCTION void GradientNodes::add(Cpu exec, std::optional<double> weight, std::int64_t part,
                                                         PartRange const& parts) {
    Value const& value = gradient->value();
    if (sparse) {
        auto rows = weight ? sums.sparse(exec, value, *weight, part) : no_rows();
        append_part(exec, sums.type, sparse_nodes, std::move(rows), part, parts);
    } else {
        auto elements = weight ? sums.dense(exec, value, *weight, part) : no_elements();
        if (!weight) {
            elements.keys = {part};
            elements.bytes = Storage<std::byte>(elements.piece_bytes());
            std::ranges::fill(elements.bytes, std::byte{});
        }
        append_part(exec, sums.type, dense_nodes, std::move(elements), part, parts);
    }
}

ROWAN_CALLED_FUNCTION DensePieces GradientNodes::dense_of(Cpu exec, PartRange const& parts) {
    return dense_nodes.empty() ? no_elements() : sums_of_nodes(exec, sums.type, std::move(dense_nodes), parts);
}

ROWAN_CALLED_FUNCTION RowPieces GradientNodes::sparse_of(Cpu exec, PartRange const& parts) {
    return sparse_nodes.empty() ? no_rows() : sums_of_nodes(exec, sums.type, std::move(sparse_nodes), parts);
}

ROWAN_CALLED_FUNCTION DensePieces GradientNodes::no_elements() const {
    DensePieces none;
    none.elements = 1;
    for (auto const dim : shape()) none.elements *= dim;
    none.element_bytes = sums.type.sum_bytes;
    return none;
}

ROWAN_CALLED_FUNCTION RowPieces GradientNodes::no_rows() const {
    RowPieces none;
    none.shape = shape();
    none.height = static_cast<std::int64_t>(none.shape[0]);
    none.row_bytes = sums.type.sum_bytes;
    for (std::size_t i = 1; i < none.shape.size(); ++i) none.row_bytes *= none.shape[i];
    return none;
}

ROWAN_CALLED_FUNCTION Value GradientNodes::value_of(Cpu exec, AnyExec device, DensePieces&& sum,
                                                               double divisor) const {
    sums.divide(exec, sum.elements, divisor, sum.bytes.data());
    return sums.dense_value(device, narrow_pieces(exec, sums.type, std::move(sum)), shape());
}

ROWAN_CALLED_FUNCTION Value GradientNodes::value_of(Cpu exec, AnyExec device, RowPieces&& sum,
                                                               double divisor) const {
    sums.divide(exec, sum.rows.size() * (sum.row_bytes / sums.type.sum_bytes), divisor, sum.bytes.data());
    return sums.sparse_value(device, narrow_pieces(exec, sums.type, std::move(sum)));
}

}  // namespace rowan::inline v0::detail

#endif
