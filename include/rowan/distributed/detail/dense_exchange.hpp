// rowan/distributed/detail/dense_exchange.hpp: DenseReduction, dense_allreduce of any element type.
#pragma once

#include <rowan/distributed/dense_allreduce.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/even_cut.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>

#include <algorithm>
#include <cstring>

namespace rowan::inline v0::detail {

/// The pieces of all ranges [cuts[r], cuts[r + 1]) one after another: piece after piece within a range.
ROWAN_IF_CALLED inline DensePieces by_ranges(DensePieces const& pieces, std::span<std::size_t const> cuts) {
    DensePieces out;
    out.elements = pieces.elements;
    out.element_bytes = pieces.element_bytes;
    out.keys = pieces.keys;
    out.bytes = Storage<std::byte>(pieces.bytes.size());
    auto* to = out.bytes.data();
    for (std::size_t r = 0; r + 1 < cuts.size(); ++r) {
        std::size_t const bytes = (cuts[r + 1] - cuts[r]) * pieces.element_bytes;
        for (std::size_t k = 0; k < pieces.keys.size() && bytes != 0; ++k, to += bytes)
            std::memcpy(to, pieces.bytes.data() + k * pieces.piece_bytes() + cuts[r] * pieces.element_bytes, bytes);
    }
    return out;
}

/// Pieces in slices, on their way: rank r of a group gets elements [cuts[r], cuts[r + 1]) of those of all its ranks; or
/// each gets all elements.
class SliceExchange {
public:
    /// Begins to send all of `own` to all ranks. keys[r] are those of the pieces of rank r.
    ROWAN_IF_CALLED void begin_all(ProcessGroup const& group, DensePieces&& own,
                                   std::vector<std::vector<std::int64_t>> const& keys) {
        own_ = std::move(own);
        exchange(group, own_.elements, keys);
    }
    /// Begins to send slices of `own`.
    ROWAN_IF_CALLED void begin(ProcessGroup const& group, DensePieces&& own, std::vector<std::size_t> cuts,
                               std::vector<std::vector<std::int64_t>> const& keys) {
        auto const me = static_cast<std::size_t>(group.rank());
        cuts_ = std::move(cuts);
        own_ = own.keys.size() > 1 ? by_ranges(own, cuts_) : std::move(own);
        for (std::size_t r = 0; r < keys.size(); ++r) send_.push_back(own_.keys.size() * (cuts_[r + 1] - cuts_[r]));
        exchange(group, cuts_[me + 1] - cuts_[me], keys);
    }
    bool begun() const { return begun_; }
    bool sends_all() const { return cuts_.empty(); }
    bool test() { return transfer_.test(); }
    /// What has come, ordered by ranks; after begin_gather, the piece.
    ROWAN_IF_CALLED DensePieces wait() {
        transfer_.wait();
        own_ = {};
        return std::move(in_);
    }
    /// The way back: begins to make the slices of one piece, narrowed, the piece on all ranks.
    ROWAN_IF_CALLED void begin_gather(ProcessGroup const& group, DensePieces&& slice) {
        own_ = std::move(slice);
        in_.elements = cuts_.back();
        in_.element_bytes = own_.element_bytes;
        in_.keys = {0};
        in_.bytes = Storage<std::byte>(in_.piece_bytes());
        receive_ = counts();
        transfer_.begin(
            group, {{in_.element_bytes, bytes_of(std::as_const(own_.bytes)), {}, bytes_of(in_.bytes), receive_, true}});
    }
    /// The elements of each rank's slice.
    ROWAN_IF_CALLED std::vector<std::size_t> counts() const {
        std::vector<std::size_t> counts;
        for (std::size_t r = 0; r + 1 < cuts_.size(); ++r) counts.push_back(cuts_[r + 1] - cuts_[r]);
        return counts;
    }

private:
    ROWAN_IF_CALLED void exchange(ProcessGroup const& group, std::size_t elements,
                                  std::vector<std::vector<std::int64_t>> const& keys) {
        in_.elements = elements;
        in_.element_bytes = own_.element_bytes;
        for (auto const& of_rank : keys) {
            receive_.push_back(of_rank.size() * elements);
            in_.keys.insert(in_.keys.end(), of_rank.begin(), of_rank.end());
        }
        in_.bytes = Storage<std::byte>(in_.keys.size() * in_.piece_bytes());
        begun_ = true;
        transfer_.begin(group,
                        {{own_.element_bytes, bytes_of(std::as_const(own_.bytes)), send_, bytes_of(in_.bytes), receive_,
                          sends_all()}},
                        own_.piece_bytes() <= most_joined);
    }

    std::vector<std::size_t> cuts_, send_, receive_;  // in the way back, receive_ has the elements of slices
    DensePieces own_, in_;
    ListTransfer transfer_;
    bool begun_ = false;
};

/// A dense_allreduce that has begun: ranks have agreed, and slices of their sums travel to the ranks that add them up; of
/// two ranks, or of few elements, all travel to all, which takes one exchange instead of two. On several nodes of several
/// ranks, first within the nodes, then between the ranks that have the same place.
class DenseReduction {
public:
    ROWAN_IF_CALLED DenseReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type)
        : own_group_(std::move(group)), group_(own_group_.get()), exec_(exec), type_(type) {}
    /// Begins it, called first, of this constructor's object. `parts` checks this rank's parts, writes notice.same and gives
    /// them, one element for each, numbered from 0 on; notice.own are this class's. Writes the values that must be the same
    /// on all ranks to `same`.
    ROWAN_IF_CALLED void start(std::function<std::vector<DensePieces>(Notice&, NamedValues& same)> const& parts) {
        std::vector<DensePieces> own;
        NamedValues same;
        auto const notices = agree(*group_, Collective::dense_allreduce, Told::all, [&](Notice& n) {
            own = parts(n, same);
            n.own = {static_cast<std::int64_t>(own.size()), 0, same.hash()};
        });
        check_same_values(*group_, notices, 2, same);
        number_ = notices[0].number;
        after_agreement(*group_, [&] { begin(std::move(own), notices); });
    }
    /// For ranks that have agreed: rank r of P has the sums of the nodes of parts [r · total / P, (r + 1) · total / P).
    /// The group must outlive it.
    ROWAN_IF_CALLED DenseReduction(ProcessGroup const& group, Cpu exec, ElementSums const& type, DensePieces&& nodes,
                                   std::int64_t total)
        : group_(&group), exec_(exec), type_(type), own_(std::move(nodes)) {
        after_agreement(*group_, [&] {
            std::int64_t const ranks = group_->size();
            for (std::int64_t r = 0; r <= ranks; ++r) firsts_.push_back(even_cut(total, r, ranks));
            if (ranks > 1) send();
        });
    }
    /// Whether what this rank sums has come, and gather would not wait.
    bool test() { return slices_.begun() && nodes_ == nullptr && slices_.test(); }
    /// Sums it and begins to gather the sums of all ranks, by another group of them. Called once or not at all, before
    /// finish. On several nodes, it waits for the others.
    ROWAN_IF_CALLED void gather(ProcessGroup const& group) {
        if (!slices_.begun() || slices_.sends_all()) return;
        auto in = slices_.wait();
        auto slice = nodes_ == nullptr ? sum(in) : sum_across(std::move(in));
        in = {};
        slices_.begin_gather(nodes_ == nullptr ? group : *nodes_->node, std::move(slice));
        gathers_ = true;
    }
    /// The sum, narrowed, of ranks that have agreed; of what fails, all end. Called once.
    ROWAN_IF_CALLED DensePieces finish() {
        return after_agreement(*group_, [&] {
            if (!slices_.begun()) return narrow_pieces(exec_, type_, std::move(own_));
            if (slices_.sends_all()) return sum(slices_.wait());
            if (!gathers_) gather(*group_);
            return slices_.wait();
        });
    }
    /// Writes the sum, narrowed, to the memory that make() gives, on all ranks or on none: ranks agree once more before
    /// the last exchange, and nothing fails later. Called once.
    /// errors   Error on all ranks if they finish different reductions; what fails on one rank, RemoteError on the
    ///          others
    ROWAN_IF_CALLED void finish(std::function<std::span<std::byte>()> const& make) {
        std::span<std::byte> to;
        auto const agree = [&](auto const& f) {
            static_cast<void>(agree_on_end(*group_, number_, Told::differences, [&](Notice&) { f(); }));
        };
        auto const take = [&](DensePieces const& all) {
            to = make();
            if (!to.empty()) std::memcpy(to.data(), all.bytes.data(), to.size());
        };
        if (!slices_.begun()) return agree([&] { take(narrow_pieces(exec_, type_, std::move(own_))); });
        if (slices_.sends_all()) return agree([&] { take(sum(slices_.wait())); });
        if (nodes_ != nullptr) {  // exchanges of some ranks, which must be of one reduction
            agree([] {});
            auto const all = finish();
            return agree([&] { take(all); });
        }
        DensePieces slice;
        std::vector<std::size_t> counts;
        agree([&] {
            slice = sum(slices_.wait());
            counts = slices_.counts();
            to = make();
        });
        after_agreement(*group_, [&] {
            group_->allgatherv(slice.element_bytes, bytes_of(std::as_const(slice.bytes)), to, counts)->wait();
        });
    }

private:
    ROWAN_IF_CALLED void begin(std::vector<DensePieces>&& parts, std::vector<Notice> const& notices) {
        firsts_ = {0};
        for (auto const& n : notices) firsts_.push_back(firsts_.back() + n.own[0]);
        std::int64_t const mine = firsts_[static_cast<std::size_t>(group_->rank())];
        for (auto& p : parts) {
            for (auto& key : p.keys) key += mine;
        }
        own_ = node_pieces(exec_, type_, std::move(parts), mine, firsts_.back());
        if (notices.size() > 1) send();
    }
    ROWAN_IF_CALLED void send() {
        nodes_ = group_->nodes();
        if (nodes_ != nullptr && nodes_->places() == 1) nodes_ = nullptr;
        auto const& group = nodes_ == nullptr ? *group_ : *nodes_->node;
        auto const ranks = static_cast<std::size_t>(group.size()),
                   first = static_cast<std::size_t>(group_->rank() - group.rank()),
                   places = nodes_ == nullptr ? ranks : nodes_->places();
        std::vector<std::size_t> cuts;
        std::vector<std::vector<std::int64_t>> all;
        for (std::size_t r = 0; r < ranks; ++r) all.push_back(keys(first + r, first + r + 1));
        // Slices are fewer bytes for each rank, but wait for each other twice.
        static constexpr std::size_t few = std::size_t{1} << 15, most = std::size_t{1} << 22;
        std::size_t const bytes = own_.piece_bytes();
        if (nodes_ == nullptr && bytes <= most && bytes * (ranks - 2) <= few) {
            return slices_.begin_all(group, std::move(own_), all);
        }
        for (std::size_t r = 0; r <= ranks; ++r) cuts.push_back(even_cut(own_.elements, std::min(r, places), places));
        slices_.begin(group, std::move(own_), std::move(cuts), all);
    }
    ROWAN_IF_CALLED DensePieces sum(DensePieces const& in) const {
        return narrow_pieces(exec_, type_, sum_pieces(exec_, type_, std::span(&in, 1)));
    }
    /// The sum of this place's slice on all nodes, of which it has that of its own.
    ROWAN_IF_CALLED DensePieces sum_across(DensePieces&& in) const {
        auto const node = static_cast<std::size_t>(nodes_->node->size()),
                   place = static_cast<std::size_t>(nodes_->node->rank()),
                   first = static_cast<std::size_t>(group_->rank()) - place, nodes = nodes_->count();
        auto sums = sum_pieces(exec_, type_, std::span(&in, 1),
                               whole_nodes(firsts_[first], firsts_[first + node], firsts_.back()));
        in = {};
        if (place >= nodes_->places()) return narrow_pieces(exec_, type_, std::move(sums));  // without elements
        std::vector<std::size_t> cuts;
        std::vector<std::vector<std::int64_t>> all;
        for (std::size_t k = 0; k <= nodes; ++k) cuts.push_back(even_cut(sums.elements, k, nodes));
        for (std::size_t k = 0; k < nodes; ++k)
            all.push_back(
                keys(static_cast<std::size_t>(nodes_->begins[k]), static_cast<std::size_t>(nodes_->begins[k + 1])));
        SliceExchange slices;
        slices.begin(*nodes_->across, std::move(sums), std::move(cuts), all);
        slices.begin_gather(*nodes_->across, sum(slices.wait()));
        return slices.wait();
    }
    /// The first parts of the nodes of the tree of which ranks [rank, end) have all parts.
    ROWAN_IF_CALLED std::vector<std::int64_t> keys(std::size_t rank, std::size_t end) const {
        return firsts_of_nodes(firsts_[rank], firsts_[end], firsts_.back());
    }

    std::unique_ptr<ProcessGroup const> own_group_;  // or null
    ProcessGroup const* group_;
    Cpu exec_;
    ElementSums type_;
    std::vector<std::int64_t> firsts_;   // the first part of each rank, and the number of all parts
    std::unique_ptr<NodeGroups> nodes_;  // null: one stage
    DensePieces own_;                    // until they are sent
    SliceExchange slices_;
    bool gathers_ = false;
    std::int64_t number_ = 0;  // the same on all ranks
};

ROWAN_CALLED_FUNCTION std::shared_ptr<DenseReduction> begin_dense_reduction(
    std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type,
    std::function<std::vector<DensePieces>(Notice&, NamedValues&)> const& parts) {
    std::shared_ptr<DenseReduction> begun;
    after_agreement(*group, [&] {  // the last memory that is needed before ranks agree
        begun = std::make_shared<DenseReduction>(std::move(group), exec, type);
    });
    begun->start(parts);
    return begun;
}

ROWAN_CALLED_FUNCTION void finish_dense_reduction(DenseReduction& reduction,
                                                  std::function<std::span<std::byte>()> const& make) {
    reduction.finish(make);
}

}  // namespace rowan::inline v0::detail

#endif
