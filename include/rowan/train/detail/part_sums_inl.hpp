// rowan/train/detail/part_sums_inl.hpp: the functions of part_sums.hpp.
#pragma once

#include <rowan/train/detail/part_sums.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

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

/// The sums of the nodes of which `parts` are all the leaves.
template <class Pieces>
Pieces sums_of_nodes(Cpu exec, ElementSums const& type, std::vector<Pieces>&& nodes, PartRange const& parts) {
    if (nodes.size() == 1) return std::move(nodes[0]);
    return sum_pieces(exec, type, nodes, whole_nodes(parts.begin, parts.end, parts.total));
}

ROWAN_FUNCTION Tensor<std::int64_t>::shape_type GradientNodes::shape() const {
    Tensor<std::int64_t>::shape_type shape;
    for (std::int64_t const dim : like->value().spec().dims) shape.push_back(static_cast<std::size_t>(dim));
    return shape;
}

ROWAN_FUNCTION void GradientNodes::add(Cpu exec, double weight, std::int64_t part, std::int64_t first) {
    Value const& value = gradient->value();
    if (sparse) {
        append_part(exec, sums.type, sparse_nodes, sums.sparse(exec, value, weight, part), part, first);
    } else {
        append_part(exec, sums.type, dense_nodes, sums.dense(exec, value, weight, part), part, first);
    }
}

ROWAN_FUNCTION DensePieces GradientNodes::dense_of(Cpu exec, PartRange const& parts) {
    if (!dense_nodes.empty()) return sums_of_nodes(exec, sums.type, std::move(dense_nodes), parts);
    DensePieces none;
    none.elements = 1;
    for (auto const dim : shape()) none.elements *= dim;
    none.element_bytes = sums.type.sum_bytes;
    return none;
}

ROWAN_FUNCTION RowPieces GradientNodes::sparse_of(Cpu exec, PartRange const& parts) {
    if (!sparse_nodes.empty()) return sums_of_nodes(exec, sums.type, std::move(sparse_nodes), parts);
    RowPieces none;
    none.shape = shape();
    none.height = static_cast<std::int64_t>(none.shape[0]);
    none.row_bytes = sums.type.sum_bytes;
    for (std::size_t i = 1; i < none.shape.size(); ++i) none.row_bytes *= none.shape[i];
    return none;
}

ROWAN_FUNCTION Value GradientNodes::value_of(Cpu exec, AnyExec device, DensePieces&& sum, double divisor) const {
    sums.divide(exec, sum.elements, divisor, sum.bytes.data());
    return sums.dense_value(device, narrow_pieces(exec, sums.type, std::move(sum)), shape());
}

ROWAN_FUNCTION Value GradientNodes::value_of(Cpu exec, AnyExec device, RowPieces&& sum, double divisor) const {
    sums.divide(exec, sum.rows.size() * (sum.row_bytes / sums.type.sum_bytes), divisor, sum.bytes.data());
    return sums.sparse_value(device, narrow_pieces(exec, sums.type, std::move(sum)));
}

ROWAN_FUNCTION void PartSums::sum(GradientSums const& sums, Variable& gradient, Variable const& like,
                                  Placement const* own) {
    nodes_.push_back({sums, &gradient, &like, gradient.spec().type == VarType::SELECTED_ROWS, own});
}

ROWAN_FUNCTION void PartSums::begin(PartRange const& parts) {
    for (auto& n : nodes_) {
        n.dense_nodes.clear();
        n.sparse_nodes.clear();
    }
    parts_ = parts;
    next_ = parts.begin;
}

ROWAN_FUNCTION void PartSums::add(Cpu exec, std::span<double const> weights) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].add(exec, weights[i], next_, parts_.begin);
    ++next_;
}

ROWAN_FUNCTION RowsOf PartSums::rows_of(std::size_t i, std::span<std::int64_t const> rows) const {
    auto const& nodes = nodes_[i].sparse_nodes;
    if (!nodes_[i].own || nodes.size() > 1) return RowsOf::others;
    if (nodes.empty()) return rows.empty() ? RowsOf::all : RowsOf::some;
    if (!std::ranges::includes(rows, nodes[0].rows)) return RowsOf::others;
    return nodes[0].rows.size() == rows.size() ? RowsOf::all : RowsOf::some;
}

ROWAN_FUNCTION std::vector<Value> PartSums::means(Cpu exec, AnyExec device, std::span<double const> divisors,
                                                  Ranks const* ranks, FetchedGradients const& fetched) {
    std::vector<Value> all;
    if (ranks != nullptr) {
        ranks->must([&] { all = sum_of_ranks(exec, device, divisors, *ranks, fetched); });
    } else {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            auto& n = nodes_[i];
            all.push_back(n.sparse ? n.value_of(exec, device, n.sparse_of(exec, parts_), divisors[i])
                                   : n.value_of(exec, device, n.dense_of(exec, parts_), divisors[i]));
        }
    }
    begin({});
    return all;
}

/// Dense gradients of one element type travel as one: with the same pieces, of the elements of all.
struct Fused {
    void (*add)(std::size_t, std::byte const*, std::byte*);  // one for each element type
    std::vector<std::size_t> which = {};
    std::vector<DensePieces> parts = {};
    std::function<DensePieces()> sum = {};

    /// Moves the parts into one.
    DensePieces take() {
        if (parts.size() == 1) return std::move(parts[0]);
        DensePieces all;
        for (auto const& p : parts) all.elements += p.elements;
        all.element_bytes = parts[0].element_bytes;
        all.keys = parts[0].keys;
        all.bytes = Storage<std::byte>(all.keys.size() * all.piece_bytes());
        auto* to = all.bytes.data();
        for (std::size_t k = 0; k < all.keys.size(); ++k) {
            for (auto const& p : parts) {
                std::size_t const bytes = p.piece_bytes();
                if (bytes != 0) std::memcpy(to, p.bytes.data() + k * bytes, bytes);
                to += bytes;
            }
        }
        for (auto& p : parts) p.bytes = {};
        return all;
    }

    /// Waits for the sum, and calls f(i, sum of gradient i).
    template <class F>
    void give(F const& f) const {
        auto all = sum();
        if (which.size() == 1) return f(which[0], std::move(all));
        auto const* from = all.bytes.data();
        for (std::size_t k = 0; k < which.size(); ++k) {
            DensePieces one;
            one.elements = parts[k].elements;
            one.element_bytes = all.element_bytes;
            one.keys = all.keys;
            one.bytes = Storage<std::byte>(one.piece_bytes());
            if (!one.bytes.empty()) std::memcpy(one.bytes.data(), from, one.piece_bytes());
            from += one.piece_bytes();
            f(which[k], std::move(one));
        }
    }
};

ROWAN_FUNCTION std::vector<Value> PartSums::sum_of_ranks(Cpu exec, AnyExec device, std::span<double const> divisors,
                                                         Ranks const& ranks, FetchedGradients const& fetched) {
    // What travels is not narrowed before it is divided.
    auto const as_sums = [](ElementSums const& type) {
        return ElementSums{type.sum_bytes, type.sum_bytes, type.add, nullptr};
    };
    std::vector<Value> all(nodes_.size());
    std::vector<Fused> dense;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        auto& n = nodes_[i];
        if (n.sparse) continue;
        auto of_type = std::ranges::find(dense, n.sums.type.add, &Fused::add);
        if (of_type == dense.end()) of_type = dense.insert(dense.end(), Fused{n.sums.type.add});
        of_type->which.push_back(i);
        of_type->parts.push_back(n.dense_of(exec, parts_));
    }
    for (auto& d : dense) d.sum = ranks.begin_sum(exec, as_sums(nodes_[d.which[0]].sums.type), d.take(), parts_.total);
    std::vector<FetchedTables::Gradient> back;
    for (auto const& [table, i, has_all] : fetched.list)
        back.push_back({table, has_all, as_sums(nodes_[i].sums.type), nodes_[i].sparse_of(exec, parts_)});
    if (!back.empty()) {
        std::vector<std::int64_t> firsts;  // parts of the ranks
        for (int r = 0; r < ranks.size(); ++r)
            firsts.push_back(PartRange::of_rank(parts_.total, r, ranks.size()).begin);
        auto sums = fetched.tables->sum(exec, back, firsts);
        for (std::size_t k = 0; k < sums.size(); ++k) {
            std::size_t const i = fetched.list[k].gradient;
            all[i] = nodes_[i].value_of(exec, device, std::move(sums[k]), divisors[i]);
        }
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        auto& n = nodes_[i];
        if (!n.sparse || !all[i].empty()) continue;
        auto nodes = n.sparse_of(exec, parts_);
        auto sum = ranks.sum(exec, as_sums(n.sums.type), std::move(nodes), parts_.total, n.own);
        all[i] = n.value_of(exec, device, std::move(sum), divisors[i]);
    }
    for (auto const& d : dense) {
        d.give([&](std::size_t i, DensePieces&& sum) {
            all[i] = nodes_[i].value_of(exec, device, std::move(sum), divisors[i]);
        });
    }
    return all;
}

}  // namespace rowan::inline v0::detail

#endif
