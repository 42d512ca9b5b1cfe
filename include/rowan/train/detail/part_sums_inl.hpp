// rowan/train/detail/part_sums_inl.hpp: the functions of part_sums.hpp.
#pragma once

#include <rowan/train/detail/part_sums.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void PartSums::sum(GradientSums const& sums, Variable& gradient, Variable const& like,
                                         Placement const* own) {
    nodes_.push_back({sums, &gradient, &like, gradient.spec().type == VarType::SELECTED_ROWS, own});
}

ROWAN_CALLED_FUNCTION void PartSums::begin(PartRange const& parts) {
    for (auto& n : nodes_) {
        n.dense_nodes.clear();
        n.sparse_nodes.clear();
    }
    parts_ = parts;
    next_ = parts.begin;
    added_.assign(nodes_.size(), false);
}

ROWAN_CALLED_FUNCTION void PartSums::add(Cpu exec, Weights const& weights) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!added_[i]) nodes_[i].add(exec, weights[i], next_, parts_);
    }
    ++next_;
    added_.assign(nodes_.size(), false);
}

// Small gradients travel together, as their time would be that of a message without bytes.
ROWAN_CALLED_FUNCTION void PartSums::fuse() {
    static constexpr std::size_t enough = std::size_t{1} << 18;
    std::vector<std::pair<std::size_t, std::size_t>> order;  // when a gradient is ready, and its number
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].sparse) order.emplace_back(ready_.empty() ? 0 : ready_[i], i);
    }
    std::sort(order.begin(), order.end());
    for (auto const& [ready, i] : order) {
        auto const& type = nodes_[i].sums.type;
        std::size_t elements = 1;
        for (auto const dim : nodes_[i].shape()) elements *= dim;
        auto const open = std::ranges::find_if(fused_, [&](FusedSums const& f) {
            return nodes_[f.which[0]].sums.type.add == type.add && (ready_.empty() || f.bytes < enough);
        });
        auto& f = open == fused_.end() ? fused_.emplace_back() : *open;
        f.which.push_back(i);
        f.elements.push_back(elements);
        f.bytes += elements * type.sum_bytes;
        f.ready = ready;
    }
    for (auto f = fused_.begin(); f != fused_.end(); ++f)  // few, and nearly in order
        std::rotate(std::ranges::upper_bound(fused_.begin(), f, f->ready, {}, &FusedSums::ready), f, f + 1);
}

/// Elements of all parts as one: with the same pieces.
inline DensePieces fused_pieces(std::vector<DensePieces>&& parts) {
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
    return all;
}

/// The type of what travels, which is not narrowed before it is divided.
inline ElementSums as_sums(ElementSums const& type) {
    return ElementSums{type.sum_bytes, type.sum_bytes, type.add, nullptr};
}

ROWAN_CALLED_FUNCTION void PartSums::begin_sum(Cpu exec, FusedSums& fused, std::vector<DensePieces>&& parts,
                                               Ranks const& ranks) const {
    ranks.must([&] {
        fused.sum = ranks.begin_sum(exec, as_sums(nodes_[fused.which[0]].sums.type), fused_pieces(std::move(parts)),
                                    parts_.total);
    });
}

ROWAN_CALLED_FUNCTION void PartSums::begin_sums(Cpu exec, std::size_t operators,
                                                std::function<Weights()> const& weights, Ranks const& ranks,
                                                FetchedGradients& fetched) {
    if (fused_.empty()) fuse();
    Weights of_part;
    auto const add = [&](std::size_t i) {
        if (of_part.empty()) of_part = weights();
        nodes_[i].add(exec, of_part[i], next_, parts_);
        added_[i] = true;
    };
    for (auto& f : fused_) {
        if (f.sum != nullptr || f.ready > operators) continue;
        std::vector<DensePieces> parts;
        for (std::size_t const i : f.which) {
            add(i);
            parts.push_back(nodes_[i].dense_of(exec, parts_));
        }
        begin_sum(exec, f, std::move(parts), ranks);
    }
    if (!fetched.early || fetched.begun || ready_of(fetched) > operators) return;
    for (auto const& one : fetched.list) {
        add(one.gradient);
        if (rows_of(one.gradient, fetched.tables->numbers[one.table]) == RowsOf::others)
            throw Error("train: the gradient of a sharded table has rows that no batch names");
    }
    ranks.must([&] { begin_fetched(exec, fetched); });
}

ROWAN_CALLED_FUNCTION std::size_t PartSums::ready_of(FetchedGradients const& fetched) const {
    std::size_t last = 0;
    for (auto const& one : fetched.list) last = std::max(last, ready_[one.gradient]);
    return last;
}

ROWAN_CALLED_FUNCTION void PartSums::begin_fetched(Cpu exec, FetchedGradients& fetched) {
    fetched.begun = true;
    std::vector<FetchedTables::Gradient> back;
    for (auto const& [table, i, has_all] : fetched.list)
        back.push_back({table, has_all, as_sums(nodes_[i].sums.type), nodes_[i].sparse_of(exec, parts_)});
    fetched.tables->begin_sum(std::move(back));
}

ROWAN_CALLED_FUNCTION void PartSums::begin_rest(Cpu exec, Ranks const& ranks, FetchedGradients& fetched) {
    if (fused_.empty()) fuse();
    for (auto& f : fused_) {
        if (f.sum != nullptr) continue;
        std::vector<DensePieces> parts;
        for (std::size_t const i : f.which) parts.push_back(nodes_[i].dense_of(exec, parts_));
        begin_sum(exec, f, std::move(parts), ranks);
    }
    if (!fetched.list.empty() && !fetched.begun) begin_fetched(exec, fetched);
}

ROWAN_CALLED_FUNCTION void PartSums::progress() {
    for (auto& f : fused_) {
        if (f.gathers) continue;
        if (f.sum == nullptr || !f.sum->test()) return;  // all ranks gather in one order
        f.sum->gather();
        f.gathers = true;
    }
}

ROWAN_CALLED_FUNCTION void PartSums::begin_with_zeros(Cpu exec, Ranks const& ranks, PartRange const& parts,
                                                      FetchedGradients& fetched) {
    begin(parts);
    if (fused_.empty()) fuse();
    auto const in_turn = [&](std::size_t ready) {  // in the order of begin_sums
        if (fetched.early && !fetched.begun && ready_of(fetched) < ready) begin_fetched(exec, fetched);
    };
    for (auto& f : fused_) {
        in_turn(f.ready);
        if (f.sum != nullptr) continue;
        DensePieces zeros;
        for (auto const n : f.elements) zeros.elements += n;
        zeros.element_bytes = nodes_[f.which[0]].sums.type.sum_bytes;
        zeros.keys = firsts_of_nodes(parts_.begin, parts_.end, parts_.total);
        zeros.bytes = Storage<std::byte>(zeros.keys.size() * zeros.piece_bytes());
        std::ranges::fill(zeros.bytes, std::byte{});
        std::vector<DensePieces> all;
        all.push_back(std::move(zeros));
        begin_sum(exec, f, std::move(all), ranks);
    }
    in_turn(std::numeric_limits<std::size_t>::max());
}

ROWAN_CALLED_FUNCTION void PartSums::gather_others() {
    for (auto& f : fused_) {
        if (f.sum != nullptr && !ready_.empty() && !std::exchange(f.gathers, true)) f.sum->gather();
    }
}

ROWAN_CALLED_FUNCTION void PartSums::drop() noexcept {
    try {
        gather_others();
        for (auto& f : fused_) {
            if (f.sum != nullptr) static_cast<void>(f.sum->finish());
        }
    } catch (...) {  // of a rank that has ended all
    }
    for (auto& f : fused_) {
        f.sum = nullptr;
        f.gathers = false;
    }
}

ROWAN_CALLED_FUNCTION RowsOf PartSums::rows_of(std::size_t i, std::span<std::int64_t const> rows) const {
    auto const& nodes = nodes_[i].sparse_nodes;
    if (!nodes_[i].own || nodes.size() > 1) return RowsOf::others;
    if (nodes.empty()) return rows.empty() ? RowsOf::all : RowsOf::some;
    if (!std::ranges::includes(rows, nodes[0].rows)) return RowsOf::others;
    return nodes[0].rows.size() == rows.size() ? RowsOf::all : RowsOf::some;
}

ROWAN_CALLED_FUNCTION std::vector<Value> PartSums::means(Cpu exec, AnyExec device, std::span<double const> divisors,
                                                         Ranks const* ranks, FetchedGradients& fetched) {
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

/// Calls f(i, sum of gradient i) for the sums of some.
template <class F>
void each_sum(FusedSums const& fused, DensePieces&& all, F const& f) {
    if (fused.which.size() == 1) return f(fused.which[0], std::move(all));
    auto const* from = all.bytes.data();
    for (std::size_t k = 0; k < fused.which.size(); ++k) {
        DensePieces one;
        one.elements = fused.elements[k];
        one.element_bytes = all.element_bytes;
        one.keys = all.keys;
        one.bytes = Storage<std::byte>(one.piece_bytes());
        if (!one.bytes.empty()) std::memcpy(one.bytes.data(), from, one.piece_bytes());
        from += one.piece_bytes();
        f(fused.which[k], std::move(one));
    }
}

ROWAN_CALLED_FUNCTION std::vector<Value> PartSums::sum_of_ranks(Cpu exec, AnyExec device,
                                                                std::span<double const> divisors, Ranks const& ranks,
                                                                FetchedGradients& fetched) {
    std::vector<Value> all(nodes_.size());
    if (!fetched.list.empty()) {
        std::vector<std::int64_t> firsts;  // parts of the ranks
        for (int r = 0; r < ranks.size(); ++r)
            firsts.push_back(PartRange::of_rank(parts_.total, r, ranks.size()).begin);
        auto sums = fetched.tables->end_sum(exec, firsts);
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
    gather_others();  // all are on their way before one is waited for
    for (auto& f : fused_) {
        each_sum(f, f.sum->finish(), [&](std::size_t i, DensePieces&& sum) {
            all[i] = nodes_[i].value_of(exec, device, std::move(sum), divisors[i]);
        });
        f.sum = nullptr;
        f.gathers = false;
    }
    return all;
}

ROWAN_FUNCTION void check_moved(Variable& now, Value& next) {
    Value before = now.value().on_host(), after = next.on_host();
    auto const old = before.elements(), made = after.elements();
    auto const check = [&]<class T>(T const* was, T const* is) {
        for (std::size_t i = 0; i < made.bytes.size() / sizeof(T); ++i) {
            if (std::isinf(is[i]) && !std::isinf(was[i]))
                throw ValueError({now.name(), "[", i, "] after this step"}, static_cast<double>(is[i]),
                                 "a sum over the rows of all parts within its type");
        }
    };
    if (made.bytes.size() != old.bytes.size() || made.dtype != old.dtype) return;
    if (made.dtype == dtype<float>::wire)
        check(reinterpret_cast<float const*>(old.bytes.data()), reinterpret_cast<float const*>(made.bytes.data()));
    if (made.dtype == dtype<double>::wire)
        check(reinterpret_cast<double const*>(old.bytes.data()), reinterpret_cast<double const*>(made.bytes.data()));
}

}  // namespace rowan::inline v0::detail

#endif
