// rowan/distributed/detail/row_exchange_inl.hpp: the functions of row_exchange.hpp.
#pragma once

#include <rowan/distributed/detail/row_exchange.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstring>
#include <limits>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::vector<std::size_t> exchange_counts(ProcessGroup const& group, std::span<std::size_t const> send) {
    std::vector<std::size_t> receive(send.size());
    group.alltoall(std::as_bytes(send), bytes_of(receive));
    return receive;
}

ROWAN_FUNCTION RowPieces RowTransfer::wait() {
    for (auto& t : open_) {
        if (t != nullptr) t->wait();
        t = nullptr;
    }
    return std::move(lists_->in);
}

ROWAN_FUNCTION void RowTransfer::receive(std::span<std::size_t const> counts, std::span<std::int64_t const> rank_keys) {
    auto& in = lists_->in;
    in = lists_->own.like();
    in.resize(total(counts));
    auto to = in.keys.begin();
    for (std::size_t r = 0; r < rank_keys.size(); ++r) to = std::fill_n(to, counts[r], rank_keys[r]);
}

ROWAN_FUNCTION RowTransfer begin_gather(ProcessGroup const& group, RowPieces&& own, std::span<std::size_t const> counts,
                                        std::span<std::int64_t const> rank_keys) {
    RowTransfer t;
    t.lists_ = std::make_unique<RowTransfer::Lists>();
    auto& l = *t.lists_;
    l.own = std::move(own);
    l.receive.assign(counts.begin(), counts.end());
    t.receive(counts, rank_keys);
    std::size_t const word = sizeof(std::int64_t);
    t.open_[0] = group.allgatherv(word, bytes_of(std::as_const(l.own.rows)), bytes_of(l.in.rows), l.receive);
    if (rank_keys.empty())
        t.open_[1] = group.allgatherv(word, bytes_of(std::as_const(l.own.keys)), bytes_of(l.in.keys), l.receive);
    if (l.own.row_bytes != 0)
        t.open_[2] =
            group.allgatherv(l.own.row_bytes, bytes_of(std::as_const(l.own.bytes)), bytes_of(l.in.bytes), l.receive);
    return t;
}

ROWAN_FUNCTION RowTransfer begin_deal(ProcessGroup const& group, RowPieces&& own, std::span<std::size_t const> send,
                                      std::span<std::size_t const> receive, std::span<std::int64_t const> rank_keys) {
    RowTransfer t;
    t.lists_ = std::make_unique<RowTransfer::Lists>();
    auto& l = *t.lists_;
    l.own = std::move(own);
    l.send.assign(send.begin(), send.end());
    l.receive.assign(receive.begin(), receive.end());
    t.receive(receive, rank_keys);
    auto const exchange = [&](std::size_t unit, std::span<std::byte const> from, std::span<std::byte> to) {
        return group.alltoallv(unit, from, l.send, to, l.receive);
    };
    std::size_t const word = sizeof(std::int64_t);
    t.open_[0] = exchange(word, bytes_of(std::as_const(l.own.rows)), bytes_of(l.in.rows));
    if (rank_keys.empty()) t.open_[1] = exchange(word, bytes_of(std::as_const(l.own.keys)), bytes_of(l.in.keys));
    if (l.own.row_bytes != 0)
        t.open_[2] = exchange(l.own.row_bytes, bytes_of(std::as_const(l.own.bytes)), bytes_of(l.in.bytes));
    return t;
}

/// Every rank's number.
inline std::vector<std::size_t> all_counts(ProcessGroup const& group, std::size_t own) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(group.size()));
    group.allgather(std::as_bytes(std::span(&own, 1)), bytes_of(counts));
    return counts;
}

ROWAN_FUNCTION RowPieces gather_pieces(ProcessGroup const& group, RowPieces&& own) {
    auto const counts = all_counts(group, own.rows.size());
    return begin_gather(group, std::move(own), counts).wait();
}

ROWAN_FUNCTION RowPieces deal_pieces(ProcessGroup const& group, RowPieces&& own, std::span<std::size_t const> send) {
    auto const receive = exchange_counts(group, send);
    return begin_deal(group, std::move(own), send, receive).wait();
}

// Each rank shows rows at equal distances in its list; every one stands for the same number of its rows.
ROWAN_FUNCTION std::vector<std::int64_t> row_splits(ProcessGroup const& group, std::int64_t height,
                                                    std::span<std::int64_t const> rows,
                                                    std::span<std::size_t const> counts) {
    struct Sample {
        std::int64_t row;
        std::size_t weight;
    };
    std::size_t const ranks = counts.size(), each = std::clamp<std::size_t>(512 / ranks, 4, 64);
    std::vector<std::int64_t> mine(each), all(each * ranks);
    for (std::size_t i = 0; i < each && !rows.empty(); ++i) {
        std::size_t const n = rows.size();
        mine[i] = rows[n / each * i + n % each * i / each];
    }
    group.allgather(bytes_of(std::as_const(mine)), bytes_of(all));
    std::vector<Sample> samples;
    for (std::size_t r = 0; r < ranks; ++r) {
        for (std::size_t i = 0; i < each && counts[r] != 0; ++i) samples.push_back({all[r * each + i], counts[r]});
    }
    std::ranges::sort(samples, {}, &Sample::row);
    std::size_t const weight = total(counts) * each;
    std::vector<std::int64_t> splits{0};
    std::size_t before = 0;
    for (auto const& s : samples) {
        auto const want = [&] { return weight / ranks * splits.size() + weight % ranks * splits.size() / ranks; };
        while (splits.size() < ranks && before >= want()) splits.push_back(s.row);
        before += s.weight;
    }
    splits.resize(ranks, height);
    splits.push_back(height);
    return splits;
}

ROWAN_FUNCTION std::vector<std::size_t> counts_in(std::span<std::int64_t const> splits,
                                                  std::span<std::int64_t const> rows) {
    std::vector<std::size_t> counts;
    auto at = rows.begin();
    for (std::size_t r = 1; r < splits.size(); ++r) {
        auto const end = r + 1 == splits.size() ? rows.end() : std::lower_bound(at, rows.end(), splits[r]);
        counts.push_back(static_cast<std::size_t>(end - at));
        at = end;
    }
    return counts;
}

/// Contributions in blocks of 64, these in blocks of 64, and so on, from sums that were formed elsewhere. One of c
/// contributions is a sum as merge forms it, c = k 64^l, k < 64: it begins a block of that level, or is a unit of it.
class BlockPieces {
public:
    BlockPieces(ElementSums const& type, std::size_t n)
        : type_(type), n_(n), bytes_(n * type.sum_bytes), sums_(levels * bytes_) {}

    void begin() { counts_.fill(0); }
    void add(std::int64_t count, std::byte const* sum) {
        std::size_t level = 0;
        for (std::int64_t c = count; c % block == 0; c /= block) ++level;
        add(level, count, sum);
    }
    void end(std::byte* out) {
        std::size_t low = 0;
        while (counts_[low] == 0) ++low;
        for (std::size_t l = low + 1; l < levels; ++l) {
            if (counts_[l] == 0) continue;
            type_.add(n_, sum(low), sum(l));
            low = l;
        }
        if (bytes_ != 0) std::memcpy(out, sum(low), bytes_);
    }

    /// Calls f(first, count) for the pieces of contributions [at, at + n) of a row.
    template <class F>
    static void cut(std::int64_t at, std::int64_t n, F const& f) {
        for (std::int64_t i = 0; i < n;) {
            std::int64_t const here = at + i, left = n - i;
            std::int64_t unit = 1;
            while (unit <= left / block && here % (unit * block) == 0) unit *= block;
            bool const begins = unit > std::numeric_limits<std::int64_t>::max() / block || here % (unit * block) == 0;
            std::int64_t const count = begins ? std::min(left / unit, block) * unit : unit;
            f(i, count);
            i += count;
        }
    }

private:
    static constexpr std::int64_t block = block_size;
    static constexpr std::size_t levels = 11;

    void add(std::size_t level, std::int64_t count, std::byte const* from) {
        if (counts_[level] != 0) {
            type_.add(n_, from, sum(level));
        } else if (bytes_ != 0) {
            std::memcpy(sum(level), from, bytes_);
        }
        counts_[level] += count;
        if (counts_[level] == std::int64_t{1} << (6 * (level + 1))) {
            std::int64_t const full = std::exchange(counts_[level], 0);
            add(level + 1, full, sum(level));
        }
    }
    std::byte* sum(std::size_t level) { return sums_.data() + level * bytes_; }

    ElementSums type_;
    std::size_t n_, bytes_;
    Storage<std::byte> sums_;
    std::array<std::int64_t, levels> counts_{};
};

/// Where this rank's contributions to each row of its plan begin among those of all ranks.
inline std::vector<std::int64_t> first_contributions(Cpu exec, ProcessGroup const& group, RowPlan<> const& plan,
                                                     std::span<std::size_t const> send) {
    struct RowCount {
        std::int64_t row, count;
    };
    auto const receive = exchange_counts(group, send);
    std::size_t const rows = plan.rows().size();
    std::vector<RowCount> mine(rows), theirs(total(receive));
    for (std::size_t k = 0; k < rows; ++k) mine[k] = {plan.rows()[k], plan.offsets()[k + 1] - plan.offsets()[k]};
    group.alltoallv(sizeof(RowCount), bytes_of(std::as_const(mine)), send, bytes_of(theirs), receive)->wait();
    std::vector<std::int64_t> asked(theirs.size()), first(theirs.size()), at(rows);
    std::ranges::transform(theirs, asked.begin(), &RowCount::row);
    RowPlan<> const all(exec, asked, plan.height());
    for (std::size_t k = 0; k < all.rows().size(); ++k) {
        std::int64_t before = 0;
        for (auto i = all.offsets()[k]; i < all.offsets()[k + 1]; ++i) {
            auto const p = static_cast<std::size_t>(all.positions()[static_cast<std::size_t>(i)]);
            first[p] = before;
            before += theirs[p].count;
        }
    }
    group.alltoallv(sizeof(std::int64_t), bytes_of(std::as_const(first)), receive, bytes_of(at), send)->wait();
    return at;
}

ROWAN_FUNCTION RowPieces contribution_pieces(Cpu exec, ProcessGroup const& group, RowPlan<> const& plan,
                                             RowPieces const& like, CutSums const& sums,
                                             std::vector<std::size_t>& send) {
    auto const at = first_contributions(exec, group, plan, send);
    std::vector<Cut> cuts;
    std::vector<std::size_t> pieces;
    std::size_t k = 0;
    for (std::size_t const rows : send) {
        std::size_t const before = cuts.size();
        for (std::size_t const end = k + rows; k < end; ++k) {
            BlockPieces::cut(at[k], plan.offsets()[k + 1] - plan.offsets()[k],
                             [&](std::int64_t first, std::int64_t count) {
                                 cuts.push_back({k, first, count});
                             });
        }
        pieces.push_back(cuts.size() - before);
    }
    auto out = like.like();
    out.resize(cuts.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        out.rows[i] = plan.rows()[cuts[i].row];
        out.keys[i] = cuts[i].count;
    }
    sums(plan, cuts, out.bytes.data());
    send = std::move(pieces);
    return out;
}

ROWAN_FUNCTION RowPieces sum_contributions(Cpu exec, ElementSums const& type, RowPieces const& in) {
    auto out = in.like();
    RowPlan<> const plan(exec, in.rows, in.height);
    std::size_t const rows = plan.rows().size(), width = in.row_bytes / type.sum_bytes;
    out.resize(rows);
    parallel_work(exec, in.rows.size() * width, rows, rows_per_range(in.row_bytes),
                  [&](std::size_t begin, std::size_t end) {
                      BlockPieces sum(type, width);
                      for (std::size_t k = begin; k < end; ++k) {
                          sum.begin();
                          for (auto i = plan.offsets()[k]; i < plan.offsets()[k + 1]; ++i) {
                              auto const p = static_cast<std::size_t>(plan.positions()[static_cast<std::size_t>(i)]);
                              sum.add(in.keys[p], in.bytes.data() + p * in.row_bytes);
                          }
                          out.rows[k] = plan.rows()[k];
                          out.keys[k] = 0;
                          sum.end(out.bytes.data() + k * in.row_bytes);
                      }
                  });
    return out;
}

}  // namespace rowan::inline v0::detail

#endif
