// rowan/distributed/detail/row_reduction.hpp: RowReduction, row_allreduce of any element type.
#pragma once

#include <rowan/distributed/row_allreduce.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/even_cut.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/distributed/detail/route_model.hpp>
#include <rowan/distributed/detail/row_exchange.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace rowan::inline v0::detail {

/// The options and the shape of a row.
ROWAN_IF_CALLED inline NamedValues values_of(RowReduceOptions options, RowPieces::Shape const& shape,
                                             std::int64_t table) {
    static constexpr std::array<std::string_view, 2> orders{"parts", "contributions"};
    static constexpr std::array<std::string_view, 4> routes{"automatic", "gather", "owner", "node"};
    NamedValues all;
    all.add("the row shape", shape_text(std::span(shape).subspan(1)));
    all.add("options.order", orders[static_cast<std::size_t>(options.order)]);
    all.add("options.route", routes[static_cast<std::size_t>(options.route)]);
    all.add("the number of the sharded table", table);
    return all;
}

/// A word of every rank.
ROWAN_IF_CALLED inline std::vector<std::size_t> own_counts(std::vector<Notice> const& notices, std::size_t word) {
    std::vector<std::size_t> counts;
    for (auto const& n : notices) counts.push_back(static_cast<std::size_t>(n.own[word]));
    return counts;
}

/// Sends what each rank has to all.
ROWAN_IF_CALLED inline RowPieces send_to_all(ProcessGroup const& group, RowPieces&& own) {
    auto const counts = all_counts(group, own.rows.size());
    std::vector<std::int64_t> const no_keys(counts.size());
    return RowTransfer(group, std::move(own), counts, no_keys, true).wait();
}

/// A row_allreduce that has begun: it has agreed, and rows travel. With splits, rows [splits[r], splits[r + 1]) are
/// summed by rank r, which keeps them.
///
/// By owners, rows go to the ranks that sum them, which send the sums to all. By nodes, this happens twice: the ranks
/// of a node deal the rows to its first places, the same ranges on every node, and each place sums what it gets; the
/// ranks of one place then do the same among themselves, and at last the node's ranks gather. Sums of a node are only
/// those that the order of the sums has.
class RowReduction {
public:
    ROWAN_IF_CALLED RowReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec,
                                 std::unique_ptr<RowSummands> source, RowReduceOptions options,
                                 std::vector<std::int64_t> splits)
        : own_group_(std::move(group)), group_(own_group_.get()), exec_(exec), source_(std::move(source)),
          type_(source_->type), options_(options), splits_(std::move(splits)) {}
    /// Begins it: ranks agree, and rows travel. Called first, of this constructor's object.
    ROWAN_IF_CALLED void start() {
        if (by_parts()) {
            agree_on_parts();
        } else {
            agree_on_contributions();
        }
        if (group_->size() > 1) after_agreement(*group_, [&] { begin(); });
    }
    /// For ranks that have agreed on a step of `total` parts: rank r of P has the sums of the nodes of the tree of
    /// parts [r · total / P, (r + 1) · total / P). The group must outlive it.
    ROWAN_IF_CALLED RowReduction(ProcessGroup const& group, Cpu exec, ElementSums const& type, RowPieces&& nodes,
                                 std::int64_t total, std::vector<std::int64_t> splits = {})
        : group_(&group), exec_(exec), type_(type), splits_(std::move(splits)), own_(std::move(nodes)) {
        if (!splits_.empty()) options_.route = Route::owner;
        after_agreement(*group_, [&] {
            std::int64_t const ranks = group_->size();
            for (std::int64_t r = 0; r <= ranks; ++r) firsts_.push_back(even_cut(total, r, ranks));
            auto const several = [&](std::int64_t first, std::int64_t end) {
                return whole_nodes(first, end, total).size() > 1;
            };
            one_key_each_ = std::ranges::adjacent_find(firsts_, several) == firsts_.end();
            if (splits_.empty()) counts_ = all_counts(*group_, own_.rows.size());
            if (ranks > 1) begin();
        });
    }
    /// The result, narrowed, of ranks that have agreed; of what fails, all end. Called once.
    ROWAN_IF_CALLED RowPieces finish() {
        return after_agreement(*group_, [&] {
            auto all = sums();
            return keeps_sums() ? std::move(all) : send_to_all(dealers(), std::move(all));
        });
    }
    /// The result, narrowed, on all ranks or on none: ranks agree once more, before the last exchange or after it, and
    /// nothing fails later but memory of the last exchange before it begins, which ends all ranks. Called once.
    /// errors   Error on all ranks if they finish different reductions; what fails on one rank, RemoteError on the
    ///          others
    ROWAN_IF_CALLED void finish(RowTarget& to) {
        if (keeps_sums()) {
            static_cast<void>(agree_on_end(*group_, number_, Told::differences, [&](Notice&) { to.take(sums()); }));
            return;
        }
        if (nodes_ != nullptr) {  // exchanges of some ranks, which must be of one reduction
            static_cast<void>(agree_on_end(*group_, number_, Told::differences, [](Notice&) {}));
            auto all = finish();
            static_cast<void>(
                agree_on_end(*group_, number_, Told::differences, [&](Notice&) { to.take(std::move(all)); }));
            return;
        }
        RowPieces own;
        auto const notices = agree_on_end(*group_, number_, Told::all, [&](Notice& n) {
            own = sums();
            n.own[0] = static_cast<std::int64_t>(own.rows.size());
        });
        after_agreement(*group_, [&] {
            auto const counts = own_counts(notices, 0);
            auto const memory = to.make(own, total(counts));
            auto const rows = group_->allgatherv(sizeof(std::int64_t), bytes_of(std::as_const(own.rows)),
                                                 std::as_writable_bytes(memory.rows), counts);
            if (own.row_bytes != 0)
                group_->allgatherv(own.row_bytes, bytes_of(std::as_const(own.bytes)), memory.elements, counts)->wait();
            rows->wait();
        });
    }

private:
    ROWAN_IF_CALLED void agree_on_parts() {
        std::vector<RowPieces> parts;
        NamedValues same;
        auto const tell = [&](Notice& n) {
            same = values_of(options_, own_.shape, source_->table);
            n.own[1] = static_cast<std::int64_t>(own_.rows.size());
            n.own[2] = same.hash();
        };
        auto notices = agree(*group_, operation(), Told::all, [&](Notice& n) {
            describe(n);
            firsts_.reserve(static_cast<std::size_t>(group_->size()) + 1);
            parts = source_->parts(exec_);
            if (parts.size() == 1) {
                own_ = std::move(parts[0]);
            } else {
                own_ = parts[0].like();  // until it is known which nodes this rank has
            }
            tell(n);
        });
        check_same_values(*group_, notices, 2, same);
        number_ = notices[0].number;
        std::int64_t all = 0;
        for (auto const& n : notices) {
            firsts_.push_back(all);
            all += n.own[0];
        }
        firsts_.push_back(all);
        std::int64_t const first = firsts_[static_cast<std::size_t>(group_->rank())];
        one_key_each_ = std::ranges::all_of(notices, [](Notice const& n) { return n.own[0] == 1; });
        if (one_key_each_) {
            std::ranges::fill(own_.keys, first);
        } else {
            notices = agree(*group_, operation(), Told::all, [&](Notice& n) {
                if (parts.size() <= 1) {
                    std::ranges::fill(own_.keys, first);
                } else {
                    for (auto& p : parts) {
                        for (auto& key : p.keys) key += first;
                    }
                    own_ = node_pieces(exec_, type_, std::move(parts), first, all);
                }
                tell(n);
            });
        }
        counts_ = after_agreement(*group_, [&] { return own_counts(notices, 1); });
    }
    ROWAN_IF_CALLED void agree_on_contributions() {
        NamedValues same;
        auto const notices = agree(*group_, operation(), Told::all, [&](Notice& n) {
            describe(n);
            own_ = source_->joined();
            same = values_of(options_, own_.shape, source_->table);
            plan_ = RowPlan<>(exec_, own_.rows, own_.height);
            n.own = {static_cast<std::int64_t>(own_.rows.size()), static_cast<std::int64_t>(plan_.rows().size()),
                     same.hash()};
        });
        check_same_values(*group_, notices, 2, same);
        number_ = notices[0].number;
        after_agreement(*group_, [&] {
            contributions_ = own_counts(notices, 0);
            counts_ = own_counts(notices, 1);
        });
    }
    // Of the rows that ranks have, three quarters are different, as in batches that share their frequent rows.
    ROWAN_IF_CALLED void choose(std::size_t gathered, std::size_t dealt, std::size_t added) {
        if (!splits_.empty()) return;
        route_ = options_.route;
        if (route_ == Route::automatic || route_ == Route::node) nodes_ = group_->nodes();
        if (route_ == Route::automatic) {
            std::size_t const row =
                own_.row_bytes / (by_parts() ? type_.sum_bytes : type_.bytes) * type_.bytes + sizeof(std::int64_t);
            std::size_t const rows = std::min(total(counts_) / 4 * 3, static_cast<std::size_t>(own_.height));
            route_ = fastest_route({counts_.size(), nodes_ == nullptr ? 1 : nodes_->count(),
                                    nodes_ == nullptr ? counts_.size() : nodes_->places(), gathered, dealt, added,
                                    rows * row});
        }
        if (route_ != Route::node) nodes_ = nullptr;
    }
    ROWAN_IF_CALLED void begin() {
        if (!by_parts()) return begin_contributions();
        std::size_t const bytes = total(counts_) * (own_.row_bytes + (one_key_each_ ? 1 : 2) * sizeof(std::int64_t));
        choose(bytes, bytes, bytes);
        if (route_ == Route::gather) {
            transfer_ = RowTransfer(*group_, std::move(own_), counts_, rank_keys(), true);
            return;
        }
        split(own_.rows);
        auto const send = dealt(own_.rows);
        transfer_ = RowTransfer(dealers(), std::move(own_), send, rank_keys());
    }
    // By owner, a rank sends a row once if it is the first that has it, and else up to 63 of its contributions one by one,
    // until a block of 64 begins: about half of those beyond the first. It adds up its own, and what owners add counts
    // twice, as it comes in pieces.
    ROWAN_IF_CALLED void begin_contributions() {
        std::size_t const word = sizeof(std::int64_t), rows = total(counts_), all = total(contributions_),
                          sum_row = own_.row_bytes / type_.bytes * type_.sum_bytes,
                          gathered = all * (own_.row_bytes + word),
                          in_pieces = (rows + all) / 2 * (sum_row + 2 * word) + rows * 3 * word;
        choose(gathered, in_pieces, gathered + 2 * in_pieces);
        if (route_ == Route::gather) {
            std::vector<std::int64_t> const no_keys(counts_.size());
            transfer_ = RowTransfer(*group_, std::move(own_), contributions_, no_keys, true);
            return;
        }
        split(plan_.rows());
        FirstContributions const none = [](RowCounts const& r) { return std::vector<std::int64_t>(r.rows.size()); };
        FirstContributions const of_lower_nodes = [&](RowCounts const& r) {
            if (has_place())
                before_ = first_contributions(exec_, *nodes_->across, own_.height, r, dealt_across(r.rows), none);
            return before_;
        };
        auto const first = first_contributions(exec_, dealers(), own_.height, RowCounts(plan_), dealt(plan_.rows()),
                                               nodes_ == nullptr ? none : of_lower_nodes);
        auto pieces = own_.like();  // their keys are the numbers of contributions
        pieces.row_bytes = sum_row;
        std::vector<Cut> cuts;  // into the greatest sums that merge would form of the contributions of all ranks
        for (std::size_t k = 0; k < first.size(); ++k) {
            BlockPieces::cut(first[k], plan_.offsets()[k + 1] - plan_.offsets()[k],
                             [&](std::int64_t at, std::int64_t count) {
                                 cuts.push_back({k, at, count});
                             });
        }
        pieces.resize(cuts.size());
        for (std::size_t i = 0; i < cuts.size(); ++i) {
            pieces.rows[i] = plan_.rows()[cuts[i].row];
            pieces.keys[i] = cuts[i].count;
        }
        source_->cut_sums(exec_, own_, plan_, cuts, pieces.bytes.data());
        own_ = own_.like();
        auto const send = dealt(pieces.rows);
        transfer_ = RowTransfer(dealers(), std::move(pieces), send);
    }
    /// The sums of what has come, where no more is exchanged, or only within `dealers`.
    ROWAN_IF_CALLED RowPieces sums() {
        if (group_->size() == 1) {
            if (!by_parts()) return source_->merged(exec_, std::move(own_));
            return narrow_pieces(exec_, type_, std::move(own_));
        }
        auto in = transfer_.wait();
        if (route_ == Route::gather && !by_parts()) return source_->merged(exec_, std::move(in));
        return nodes_ == nullptr ? sum(in) : sum_across(std::move(in));
    }
    /// Whether no sums are sent to other ranks.
    bool keeps_sums() const { return group_->size() == 1 || route_ == Route::gather || !splits_.empty(); }
    /// The sums of all parts or contributions, narrowed.
    ROWAN_IF_CALLED RowPieces sum(RowPieces const& in) const {
        return narrow_pieces(
            exec_, type_,
            by_parts() ? sum_pieces(exec_, type_, std::span(&in, 1)) : sum_contributions(exec_, type_, in));
    }
    /// The sums of the rows of this place on all nodes, of which it has those of its own.
    ROWAN_IF_CALLED RowPieces sum_across(RowPieces&& in) const {
        auto sums = by_parts() ? sum_pieces(exec_, type_, std::span(&in, 1), node_ends())
                               : sum_contributions(exec_, type_, in, before_);
        in = {};
        if (!has_place()) return narrow_pieces(exec_, type_, std::move(sums));  // without rows
        auto const send = dealt_across(sums.rows);
        return send_to_all(*nodes_->across, sum(RowTransfer(*nodes_->across, std::move(sums), send).wait()));
    }
    ROWAN_IF_CALLED void describe(Notice& notice) {
        check_exec(exec_);
        source_->describe(notice);
    }
    ROWAN_IF_CALLED void split(std::span<std::int64_t const> rows) {
        std::size_t const ranges = nodes_ == nullptr ? counts_.size() : nodes_->places() * nodes_->count();
        ranges_ = splits_.empty() ? row_splits(*group_, own_.height, ranges, rows, counts_) : splits_;
    }
    ProcessGroup const& dealers() const { return nodes_ == nullptr ? *group_ : *nodes_->node; }
    std::size_t first_dealer() const { return static_cast<std::size_t>(group_->rank() - dealers().rank()); }
    /// How many of sorted rows go to each of the dealers.
    ROWAN_IF_CALLED std::vector<std::size_t> dealt(std::span<std::int64_t const> rows) const {
        if (nodes_ == nullptr) return counts_in(ranges_, rows);
        std::vector<std::int64_t> of_places;
        for (std::size_t k = 0; k < ranges_.size(); k += nodes_->count()) of_places.push_back(ranges_[k]);
        auto counts = counts_in(of_places, rows);
        counts.resize(static_cast<std::size_t>(nodes_->node->size()));
        return counts;
    }
    /// How many of sorted rows of this place go to each node.
    ROWAN_IF_CALLED std::vector<std::size_t> dealt_across(std::span<std::int64_t const> rows) const {
        std::size_t const nodes = nodes_->count();
        return counts_in(std::span(ranges_).subspan(static_cast<std::size_t>(nodes_->node->rank()) * nodes, nodes + 1),
                         rows);
    }
    /// The ends of the nodes of the tree of which the ranks of this node have all parts.
    ROWAN_IF_CALLED std::vector<std::int64_t> node_ends() const {
        std::size_t const first = first_dealer(), end = first + static_cast<std::size_t>(nodes_->node->size());
        return whole_nodes(firsts_[first], firsts_[end], firsts_.back());
    }
    bool has_place() const { return static_cast<std::size_t>(nodes_->node->rank()) < nodes_->places(); }
    /// The keys of the dealers, if each has one.
    ROWAN_IF_CALLED std::span<std::int64_t const> rank_keys() const {
        if (!one_key_each_) return {};
        return std::span(firsts_).subspan(first_dealer(), static_cast<std::size_t>(dealers().size()));
    }
    Collective operation() const { return splits_.empty() ? Collective::row_allreduce : Collective::exchange; }
    bool by_parts() const { return options_.order == SumOrder::parts; }

    std::unique_ptr<ProcessGroup const> own_group_;  // or null
    ProcessGroup const* group_;
    Cpu exec_;
    std::unique_ptr<RowSummands> source_;  // null for nodes
    ElementSums type_;
    RowReduceOptions options_;
    std::vector<std::int64_t> splits_;
    RowPieces own_;                    // by parts: sums of nodes; else contributions
    RowPlan<> plan_;                   // of contributions
    std::vector<std::size_t> counts_;  // of rows on each rank: pieces, or distinct ones of contributions; or none
    std::vector<std::size_t> contributions_;
    std::vector<std::int64_t> firsts_;   // the first part of each rank, and the number of all parts
    bool one_key_each_ = false;          // whether ranks have sums of one node, whose first part stands for all keys
    Route route_ = Route::owner;         // never automatic
    std::unique_ptr<NodeGroups> nodes_;  // by nodes
    std::vector<std::int64_t> ranges_;   // of rows, by owner; by nodes, those of place 0 first
    std::vector<std::int64_t> before_;   // by nodes: contributions on lower nodes to each row that this place has
    RowTransfer transfer_;
    std::int64_t number_ = 0;  // the same on all ranks
};

ROWAN_CALLED_FUNCTION std::shared_ptr<RowReduction> begin_row_reduction(std::unique_ptr<ProcessGroup const> group,
                                                                        Cpu exec, std::unique_ptr<RowSummands> source,
                                                                        RowReduceOptions options,
                                                                        std::vector<std::int64_t> splits) {
    std::shared_ptr<RowReduction> begun;
    after_agreement(*group, [&] {  // the last memory that is needed before ranks agree
        begun = std::make_shared<RowReduction>(std::move(group), exec, std::move(source), options, std::move(splits));
    });
    begun->start();
    return begun;
}

ROWAN_CALLED_FUNCTION void finish_row_reduction(RowReduction& reduction, RowTarget& to) { reduction.finish(to); }

}  // namespace rowan::inline v0::detail

#endif
