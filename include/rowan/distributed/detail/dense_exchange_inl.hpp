// rowan/distributed/detail/dense_exchange_inl.hpp: the functions of dense_exchange.hpp.
#pragma once

#include <rowan/distributed/detail/dense_exchange.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION DenseReduction::DenseReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec,
                                              ElementSums const& type,
                                              std::function<std::vector<DensePieces>(Notice&)> const& parts)
    : group_(std::move(group)), exec_(exec), type_(type) {
    std::vector<DensePieces> own;
    auto const notices = agree(*group_, Collective::dense_allreduce, [&](Notice& n) {
        own = parts(n);
        n.own[0] = static_cast<std::int64_t>(own.size());
    });
    for (std::size_t r = 1; r < notices.size(); ++r) {
        if (notices[r].own[2] == notices[0].own[2]) continue;
        throw ShapeError(std::string("the shape of rank ").append(std::to_string(r)), "another", "that of rank 0");
    }
    after_agreement(*group_, [&] { begin(std::move(own), notices); });
}

ROWAN_FUNCTION DenseReduction::DenseReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec,
                                              ElementSums const& type, DensePieces&& nodes, std::int64_t total)
    : group_(std::move(group)), exec_(exec), type_(type), own_(std::move(nodes)) {
    after_agreement(*group_, [&] {
        std::int64_t const ranks = group_->size();
        auto const at = [&](std::int64_t r) { return total / ranks * r + total % ranks * r / ranks; };
        for (std::int64_t r = 0; r < ranks; ++r) add_keys(at(r), at(r + 1), total);
        if (ranks > 1) send();
    });
}

ROWAN_FUNCTION DensePieces DenseReduction::finish() {
    return after_agreement(*group_, [&] { return end(); });
}

/// The pieces of all ranges [at(r), at(r + 1)) one after another: piece after piece within a range.
inline DensePieces by_ranges(DensePieces const& pieces, std::size_t ranges, auto const& at) {
    DensePieces out;
    out.elements = pieces.elements;
    out.element_bytes = pieces.element_bytes;
    out.keys = pieces.keys;
    out.bytes = Storage<std::byte>(pieces.bytes.size());
    auto* to = out.bytes.data();
    for (std::size_t r = 0; r < ranges; ++r) {
        std::size_t const bytes = (at(r + 1) - at(r)) * pieces.element_bytes;
        for (std::size_t k = 0; k < pieces.keys.size() && bytes != 0; ++k, to += bytes)
            std::memcpy(to, pieces.bytes.data() + k * pieces.piece_bytes() + at(r) * pieces.element_bytes, bytes);
    }
    return out;
}

ROWAN_FUNCTION void DenseReduction::begin(std::vector<DensePieces>&& parts, std::vector<Notice> const& notices) {
    std::int64_t all = 0, before = 0, mine = 0;
    for (auto const& n : notices) all += n.own[0];
    for (std::size_t r = 0; r < notices.size(); ++r) {
        std::int64_t const end = before + notices[r].own[0];
        if (static_cast<int>(r) == group_->rank()) mine = before;
        add_keys(before, end, all);
        before = end;
    }
    for (auto& p : parts) {
        for (auto& key : p.keys) key += mine;
    }
    own_ = node_pieces(exec_, type_, std::move(parts), mine, all);
    if (notices.size() > 1) send();
}

ROWAN_FUNCTION void DenseReduction::add_keys(std::int64_t first, std::int64_t end, std::int64_t total) {
    auto& keys = keys_.emplace_back();
    for (std::int64_t const node_end : whole_nodes(first, end, total)) {
        if (first >= end) break;
        keys.push_back(first);
        first = node_end;
    }
}

ROWAN_FUNCTION void DenseReduction::send() {
    auto const me = static_cast<std::size_t>(group_->rank());
    std::size_t const ranks = keys_.size();
    std::size_t const own = slice(me + 1) - slice(me);
    for (std::size_t r = 0; r < ranks; ++r) {
        send_.push_back(keys_[me].size() * (slice(r + 1) - slice(r)));
        receive_.push_back(keys_[r].size() * own);
    }
    if (own_.keys.size() > 1) own_ = by_ranges(own_, ranks, [&](std::size_t r) { return slice(r); });
    in_ = Storage<std::byte>(total(receive_) * own_.element_bytes);
    transfer_ =
        group_->alltoallv(own_.element_bytes, bytes_of(std::as_const(own_.bytes)), send_, bytes_of(in_), receive_);
}

ROWAN_FUNCTION DensePieces DenseReduction::end() {
    if (transfer_ == nullptr) return narrow_pieces(exec_, type_, std::move(own_));
    transfer_->wait();
    auto const me = static_cast<std::size_t>(group_->rank());
    DensePieces sum, out;
    sum.elements = slice(me + 1) - slice(me);
    sum.element_bytes = own_.element_bytes;
    sum.keys = {0};
    std::vector<std::int64_t> keys;
    std::vector<std::byte const*> from;
    std::vector<std::size_t> counts;
    for (std::size_t r = 0; r < keys_.size(); ++r) {
        counts.push_back(slice(r + 1) - slice(r));
        for (std::int64_t const key : keys_[r]) {
            from.push_back(in_.data() + keys.size() * sum.piece_bytes());
            keys.push_back(key);
        }
    }
    sum.bytes = Storage<std::byte>(sum.piece_bytes());
    sum_dense(exec_, type_, sum.elements, keys, from, sum.bytes.data());
    sum = narrow_pieces(exec_, type_, std::move(sum));
    out.elements = own_.elements;
    out.element_bytes = sum.element_bytes;
    out.keys = {0};
    own_.bytes = {};
    in_ = {};
    out.bytes = Storage<std::byte>(out.piece_bytes());
    group_->allgatherv(out.element_bytes, bytes_of(std::as_const(sum.bytes)), bytes_of(out.bytes), counts)->wait();
    return out;
}

}  // namespace rowan::inline v0::detail

#endif
