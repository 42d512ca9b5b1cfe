// rowan/layer/detail/part_sums_inl.hpp: the functions of part_sums.hpp.
#pragma once

#include <rowan/layer/detail/part_sums.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

/// Appends the sum of a part, and adds up pairs of nodes of which there are all parts since `first`.
template <class Pieces>
void append_part(Cpu exec, ElementSums const& type, std::vector<Pieces>& nodes, Pieces&& part, std::int64_t number,
                 std::int64_t first) {
    nodes.push_back(std::move(part));
    std::int64_t const end = number + 1;
    for (std::int64_t size = 2; end % size == 0 && end - size >= first; size *= 2) {
        auto sum = sum_pieces(exec, type, std::span(nodes).last(2));
        nodes.pop_back();
        nodes.back() = std::move(sum);
    }
}

/// The sum of all nodes.
template <class Pieces>
Pieces sum_of_nodes(Cpu exec, ElementSums const& type, std::vector<Pieces>&& nodes) {
    return nodes.size() == 1 ? std::move(nodes[0]) : sum_pieces(exec, type, nodes);
}

ROWAN_FUNCTION Tensor<std::int64_t>::shape_type GradientNodes::shape() const {
    Tensor<std::int64_t>::shape_type shape;
    for (std::int64_t const dim : like->value().spec().dims) shape.push_back(static_cast<std::size_t>(dim));
    return shape;
}

ROWAN_FUNCTION void GradientNodes::add(Cpu exec, Value const& gradient, std::int64_t rows, std::int64_t part,
                                       std::int64_t first) {
    if (sparse) {
        append_part(exec, sums.type, sparse_nodes, sums.sparse(exec, gradient, rows, part), part, first);
    } else {
        append_part(exec, sums.type, dense_nodes, sums.dense(exec, gradient, rows, part), part, first);
    }
}

ROWAN_FUNCTION Value GradientNodes::mean(Cpu exec, AnyExec device, std::int64_t rows) {
    if (sparse) return value_of(exec, device, sum_of_nodes(exec, sums.type, std::move(sparse_nodes)), rows);
    return value_of(exec, device, sum_of_nodes(exec, sums.type, std::move(dense_nodes)), rows);
}

ROWAN_FUNCTION Value GradientNodes::value_of(Cpu exec, AnyExec device, DensePieces&& sum, std::int64_t rows) const {
    sums.divide(exec, sum.elements, rows, sum.bytes.data());
    return sums.dense_value(device, narrow_pieces(exec, sums.type, std::move(sum)), shape());
}

ROWAN_FUNCTION Value GradientNodes::value_of(Cpu exec, AnyExec device, RowPieces&& sum, std::int64_t rows) const {
    sums.divide(exec, sum.rows.size() * (sum.row_bytes / sums.type.sum_bytes), rows, sum.bytes.data());
    return sums.sparse_value(device, narrow_pieces(exec, sums.type, std::move(sum)));
}

ROWAN_FUNCTION void PartSums::sum(GradientSums const& sums, Variable const& gradient, Variable const& like) {
    nodes_.push_back({sums, &like, gradient.spec().type == VarType::SELECTED_ROWS});
}

ROWAN_FUNCTION void PartSums::begin(std::int64_t first) {
    for (auto& n : nodes_) {
        n.dense_nodes.clear();
        n.sparse_nodes.clear();
    }
    first_ = next_ = first;
}

ROWAN_FUNCTION void PartSums::add(Cpu exec, std::span<Value const> gradients, std::int64_t rows) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].add(exec, gradients[i], rows, next_, first_);
    ++next_;
}

ROWAN_FUNCTION std::vector<Value> PartSums::means(Cpu exec, AnyExec device, std::int64_t rows) {
    std::vector<Value> all;
    for (auto& n : nodes_) all.push_back(n.mean(exec, device, rows));
    begin(0);
    return all;
}

}  // namespace rowan::inline v0::detail

#endif
