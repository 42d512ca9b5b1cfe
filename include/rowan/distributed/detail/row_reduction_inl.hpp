// rowan/distributed/detail/row_reduction_inl.hpp: the functions of row_reduction.hpp.
#pragma once

#include <rowan/distributed/detail/row_reduction.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION RowReduction::RowReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec,
                                          std::unique_ptr<RowSource> source, RowReduceOptions options,
                                          std::vector<std::int64_t> splits)
    : group_(std::move(group)), exec_(exec), source_(std::move(source)), type_(source_->type), options_(options),
      splits_(std::move(splits)) {
    if (by_parts()) {
        agree_on_parts();
    } else {
        agree_on_contributions();
    }
    if (group_->size() > 1) after_agreement(*group_, [&] { begin(); });
}

ROWAN_FUNCTION RowReduction::RowReduction(std::unique_ptr<ProcessGroup const> group, Cpu exec, ElementSums const& type,
                                          RowPieces&& nodes, std::vector<std::int64_t> splits)
    : group_(std::move(group)), exec_(exec), type_(type), splits_(std::move(splits)), own_(std::move(nodes)) {
    if (!splits_.empty()) options_.route = Route::owner;
    after_agreement(*group_, [&] {
        counts_ = all_counts(*group_, own_.rows.size());
        if (group_->size() > 1) begin();
    });
}

ROWAN_FUNCTION RowPieces RowReduction::finish() {
    return after_agreement(*group_, [&] { return end(); });
}

ROWAN_FUNCTION void RowReduction::describe(Notice& notice) {
    check_exec(exec_);
    source_->describe(notice);
}

ROWAN_FUNCTION void RowReduction::check_same_options(std::vector<Notice> const& notices) const {
    for (std::size_t r = 1; r < notices.size(); ++r) {
        if (notices[r].own[2] == notices[0].own[2]) continue;
        throw ShapeError(std::string("the options or the row shape of rank ").append(std::to_string(r)), "others",
                         "those of rank 0");
    }
}

/// One number for the options and the shape of a row, of which the others know only the size.
inline std::int64_t options_number(RowReduceOptions options, RowPieces::Shape const& shape) {
    std::uint64_t hash = static_cast<std::uint64_t>(options.order) * 4 + static_cast<std::uint64_t>(options.route);
    for (std::size_t i = 1; i < shape.size(); ++i) hash = (hash ^ shape[i]) * 0x9E3779B97F4A7C15U + i;
    return static_cast<std::int64_t>(hash);
}

/// A word of every rank.
inline std::vector<std::size_t> own_counts(std::vector<Notice> const& notices, std::size_t word) {
    std::vector<std::size_t> counts;
    for (auto const& n : notices) counts.push_back(static_cast<std::size_t>(n.own[word]));
    return counts;
}

ROWAN_FUNCTION void RowReduction::agree_on_parts() {
    std::vector<RowPieces> parts;
    auto const tell = [&](Notice& n) {
        n.own[1] = static_cast<std::int64_t>(own_.rows.size());
        n.own[2] = options_number(options_, own_.shape);
    };
    auto notices = agree(*group_, operation(), [&](Notice& n) {
        describe(n);
        rank_keys_.reserve(static_cast<std::size_t>(group_->size()));
        parts = source_->parts(exec_);
        if (parts.size() == 1) {
            own_ = std::move(parts[0]);
        } else {
            own_ = parts[0].like();  // until it is known which nodes this rank has
        }
        tell(n);
    });
    check_same_options(notices);
    std::int64_t all = 0;
    for (auto const& n : notices) {
        rank_keys_.push_back(all);
        all += n.own[0];
    }
    std::int64_t const first = rank_keys_[static_cast<std::size_t>(group_->rank())];
    if (std::ranges::all_of(notices, [](Notice const& n) { return n.own[0] == 1; })) {
        std::ranges::fill(own_.keys, first);
    } else {
        rank_keys_.clear();
        notices = agree(*group_, operation(), [&](Notice& n) {
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

ROWAN_FUNCTION void RowReduction::agree_on_contributions() {
    auto const notices = agree(*group_, operation(), [&](Notice& n) {
        describe(n);
        own_ = source_->joined();
        plan_ = RowPlan<>(exec_, own_.rows, own_.height);
        n.own = {static_cast<std::int64_t>(own_.rows.size()), static_cast<std::int64_t>(plan_.rows().size()),
                 options_number(options_, own_.shape)};
    });
    check_same_options(notices);
    after_agreement(*group_, [&] {
        contributions_ = own_counts(notices, 0);
        counts_ = own_counts(notices, 1);
    });
}

/// Bytes that a rank sends, on average and times P / (P - 1): `gathered`, or `dealt` and, of three quarters of the rows,
/// as batches that share their frequent rows have, the sums.
ROWAN_FUNCTION bool RowReduction::choose_owner(std::size_t gathered, std::size_t dealt) const {
    static constexpr std::size_t few = std::size_t{1} << 16;  // bytes that travel faster than more messages
    if (options_.route != Route::automatic) return options_.route == Route::owner;
    std::size_t const ranks = counts_.size();
    std::size_t const result =
        own_.row_bytes / (by_parts() ? type_.sum_bytes : type_.bytes) * type_.bytes + sizeof(std::int64_t);
    return gathered > few && gathered > dealt / ranks + total(counts_) / 4 * 3 * result;
}

ROWAN_FUNCTION std::vector<std::int64_t> RowReduction::splits(std::span<std::int64_t const> rows) const {
    return splits_.empty() ? row_splits(*group_, own_.height, rows, counts_) : splits_;
}

ROWAN_FUNCTION void RowReduction::begin() {
    std::size_t const word = sizeof(std::int64_t), rows = total(counts_);
    if (by_parts()) {
        std::size_t const piece = own_.row_bytes + (rank_keys_.empty() ? 2 : 1) * word;
        owner_ = choose_owner(rows * piece, rows * piece);
        if (!owner_) {
            transfer_ = begin_gather(*group_, std::move(own_), counts_, rank_keys_);
            return;
        }
        auto const send = counts_in(splits(own_.rows), own_.rows);
        auto const receive = exchange_counts(*group_, send);
        transfer_ = begin_deal(*group_, std::move(own_), send, receive, rank_keys_);
        return;
    }
    std::size_t const sum_row = own_.row_bytes / type_.bytes * type_.sum_bytes;
    owner_ = choose_owner(total(contributions_) * (own_.row_bytes + word), rows * (sum_row + 5 * word));
    if (!owner_) {
        std::vector<std::int64_t> const no_keys(counts_.size());
        transfer_ = begin_gather(*group_, std::move(own_), contributions_, no_keys);
        return;
    }
    auto send = counts_in(splits(plan_.rows()), plan_.rows());
    auto sums = own_.like();
    sums.row_bytes = sum_row;
    auto pieces = contribution_pieces(
        exec_, *group_, plan_, sums,
        [&](RowPlan<> const& plan, std::span<Cut const> cuts, std::byte* out) {
            source_->cut_sums(exec_, own_, plan, cuts, out);
        },
        send);
    own_ = own_.like();
    auto const receive = exchange_counts(*group_, send);
    transfer_ = begin_deal(*group_, std::move(pieces), send, receive);
}

ROWAN_FUNCTION RowPieces RowReduction::end() {
    if (group_->size() == 1) {
        if (!by_parts()) return source_->merged(exec_, std::move(own_));
        return narrow_pieces(exec_, type_, std::move(own_));
    }
    auto in = transfer_.wait();
    if (!by_parts() && !owner_) return source_->merged(exec_, std::move(in));
    auto sums = by_parts() ? sum_pieces(exec_, type_, std::span(&in, 1)) : sum_contributions(exec_, type_, in);
    in = {};
    sums = narrow_pieces(exec_, type_, std::move(sums));
    return owner_ && splits_.empty() ? send_to_all(std::move(sums)) : std::move(sums);
}

ROWAN_FUNCTION RowPieces RowReduction::send_to_all(RowPieces&& own) const {
    auto const counts = all_counts(*group_, own.rows.size());
    std::vector<std::int64_t> const no_keys(counts.size());
    return begin_gather(*group_, std::move(own), counts, no_keys).wait();
}

}  // namespace rowan::inline v0::detail

#endif
