// rowan/distributed/detail/row_exchange.hpp: exchanges between ranks, of lists as one and of RowPieces.
#pragma once

#include <rowan/core/detail/config.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/even_cut.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// A list of which each rank gets some units, and what comes from each: as ProcessGroup::alltoallv, or, if all get all of
/// `in`, as allgatherv.
struct ListExchange {
    std::size_t unit;
    std::span<std::byte const> in;
    std::span<std::size_t const> counts;
    std::span<std::byte> out;
    std::span<std::size_t const> out_counts;
    bool to_all = false;  // without counts

    std::size_t bytes_to(std::size_t rank) const { return to_all ? in.size() : counts[rank] * unit; }
    std::size_t bytes_from(std::size_t rank) const { return out_counts[rank] * unit; }
};

/// Lists that travel as one. All ranks have as many.
class ListTransfer {
public:
    /// Begins to exchange them; what they refer to must stay until `wait`. With `joins`, the same on all ranks, they may
    /// begin later, as part of begin_as_one: all of these must stay until one has waited.
    /// cost     one exchange; of several lists, two copies
    ROWAN_IF_CALLED void begin(ProcessGroup const& group, std::vector<ListExchange> lists, bool joins = true) {
        if (joins && group.joined != nullptr) {
            all_ = group.joined;
            all_->lists_.insert(all_->lists_.end(), lists.begin(), lists.end());
            return;
        }
        lists_ = std::move(lists);
        if (lists_.size() < 2) {
            if (lists_.empty() || lists_[0].unit == 0) return;
            auto const& l = lists_[0];
            open_ = l.to_all ? group.allgatherv(l.unit, l.in, l.out, l.out_counts)
                             : group.alltoallv(l.unit, l.in, l.counts, l.out, l.out_counts);
            return;
        }
        auto const ranks = static_cast<std::size_t>(group.size()), me = static_cast<std::size_t>(group.rank());
        counts_.assign(ranks, 0);
        out_counts_.assign(ranks, 0);
        for (auto const& l : lists_) {
            for (std::size_t r = 0; r < ranks; ++r) {
                if (r == me) continue;  // what this rank keeps is copied at once
                counts_[r] += l.bytes_to(r);
                out_counts_[r] += l.bytes_from(r);
            }
        }
        in_ = Buffer<std::byte>(total(counts_));
        out_ = Buffer<std::byte>(total(out_counts_));
        auto* to = in_.data();
        std::vector<std::size_t> from(lists_.size()), own(lists_.size());
        for (std::size_t r = 0; r < ranks; ++r) {
            for (std::size_t t = 0; t < lists_.size(); ++t) {
                auto const& l = lists_[t];
                std::size_t const bytes = l.bytes_to(r);
                auto* const at = r == me ? l.out.data() + own[t] : to;
                if (bytes != 0) std::memcpy(at, l.in.data() + from[t], bytes);
                if (r != me) to += bytes;
                if (r < me) own[t] += l.bytes_from(r);
                if (!l.to_all) from[t] += bytes;
            }
        }
        open_ = group.alltoallv(1, bytes_of(std::as_const(in_)), counts_, bytes_of(out_), out_counts_);
    }
    bool test() { return all_ != nullptr ? all_->test() : open_ == nullptr || open_->test(); }
    ROWAN_IF_CALLED void wait() {
        if (all_ != nullptr) return std::exchange(all_, nullptr)->wait();
        if (open_ == nullptr) return;
        std::exchange(open_, nullptr)->wait();
        if (lists_.size() < 2) return;
        auto const* from = out_.data();
        std::vector<std::size_t> to(lists_.size());
        for (std::size_t r = 0; r < out_counts_.size(); ++r) {
            for (std::size_t t = 0; t < lists_.size(); ++t) {
                std::size_t const bytes = lists_[t].bytes_from(r);
                if (out_counts_[r] != 0 && bytes != 0) {  // 0 of this rank, whose bytes are there
                    std::memcpy(lists_[t].out.data() + to[t], from, bytes);
                    from += bytes;
                }
                to[t] += bytes;
            }
        }
    }

private:
    friend void begin_as_one(ProcessGroup const& group, std::function<void()> const& f);

    std::vector<ListExchange> lists_;
    std::vector<std::size_t> counts_, out_counts_;
    Buffer<std::byte> in_, out_;  // of several
    std::unique_ptr<Transfer> open_;
    std::shared_ptr<ListTransfer> all_;  // of which these lists are a part
};

/// Exchanges lists.
ROWAN_IF_CALLED inline void exchange_lists(ProcessGroup const& group, std::vector<ListExchange> lists) {
    ListTransfer transfer;
    transfer.begin(group, std::move(lists));
    transfer.wait();
}

/// Lists of at most so many bytes begin as one: a copy of more takes longer than an exchange.
inline constexpr std::size_t most_joined = std::size_t{1} << 20;

/// Runs f: the ListTransfers of this group that it begins, in the same order on all ranks, travel as one.
/// cost     that of f, one exchange and two copies
inline void begin_as_one(ProcessGroup const& group, std::function<void()> const& f) {
    group.joined = std::make_shared<ListTransfer>();
    try {
        f();
    } catch (...) {
        group.joined = nullptr;
        throw;
    }
    auto const all = std::exchange(group.joined, nullptr);
    all->begin(group, std::move(all->lists_));
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

/// Pieces on their way. What is sent and what is received is here until `wait`.
class RowTransfer {
public:
    RowTransfer() = default;
    /// Begins to send the first counts[0] pieces to rank 0, the next counts[1] to rank 1, and so on; or, `to_all`, all pieces to
    /// all ranks, of which rank r has counts[r]. If all pieces of rank r have the key rank_keys[r], keys do not travel.
    ROWAN_IF_CALLED RowTransfer(ProcessGroup const& group, RowPieces&& own, std::span<std::size_t const> counts,
                                std::span<std::int64_t const> rank_keys = {}, bool to_all = false)
        : lists_(std::make_unique<Lists>()) {
        auto& l = *lists_;
        l.own = std::move(own);
        l.counts.assign(counts.begin(), counts.end());
        l.come = to_all ? l.counts : exchange_counts(group, counts);
        l.in = l.own.like();
        l.in.resize(total(l.come));
        auto key = l.in.keys.begin();
        for (std::size_t r = 0; r < rank_keys.size(); ++r) key = std::fill_n(key, l.come[r], rank_keys[r]);
        auto const exchange = [&](std::size_t unit, std::span<std::byte const> from, std::span<std::byte> to) {
            return to_all ? group.allgatherv(unit, from, to, l.come)
                          : group.alltoallv(unit, from, l.counts, to, l.come);
        };
        std::size_t const word = sizeof(std::int64_t);
        open_[0] = exchange(word, bytes_of(std::as_const(l.own.rows)), bytes_of(l.in.rows));
        if (rank_keys.empty()) open_[1] = exchange(word, bytes_of(std::as_const(l.own.keys)), bytes_of(l.in.keys));
        if (l.own.row_bytes != 0)
            open_[2] = exchange(l.own.row_bytes, bytes_of(std::as_const(l.own.bytes)), bytes_of(l.in.bytes));
    }
    /// What has come, ordered by ranks.
    ROWAN_IF_CALLED RowPieces wait() {
        for (auto& t : open_) {
            if (t != nullptr) t->wait();
            t = nullptr;
        }
        return std::move(lists_->in);
    }

private:
    // On the heap: the group reads and writes these lists until `wait`, and this object may be moved.
    struct Lists {
        RowPieces own, in;
        std::vector<std::size_t> counts, come;
    };
    std::unique_ptr<Lists> lists_;
    std::array<std::unique_ptr<Transfer>, 3> open_;  // rows, keys, bytes
};

/// Every rank's number.
ROWAN_IF_CALLED inline std::vector<std::size_t> all_counts(ProcessGroup const& group, std::size_t own) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(group.size()));
    group.allgather(std::as_bytes(std::span(&own, 1)), bytes_of(counts));
    return counts;
}

/// Cuts the rows of a table into ranges [splits[k], splits[k + 1]), such that of the rows that all ranks bring, each
/// has about as many. `rows` are this rank's, sorted; counts[r] is the number of those of rank r.
// Each rank shows rows at equal distances in its list; every one stands for the same number of its rows.
ROWAN_IF_CALLED inline std::vector<std::int64_t> row_splits(ProcessGroup const& group, std::int64_t height,
                                                            std::size_t ranges, std::span<std::int64_t const> rows,
                                                            std::span<std::size_t const> counts) {
    struct Sample {
        std::int64_t row;
        std::size_t weight;
    };
    std::size_t const ranks = counts.size(), each = std::clamp<std::size_t>(512 / ranks, 4, 64);
    std::vector<std::int64_t> mine(each), all(each * ranks);
    for (std::size_t i = 0; i < each && !rows.empty(); ++i) {
        mine[i] = rows[even_cut(rows.size(), i, each)];
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
        while (splits.size() < ranges && before >= even_cut(weight, splits.size(), ranges)) splits.push_back(s.row);
        before += s.weight;
    }
    splits.resize(ranges, height);
    splits.push_back(height);
    return splits;
}

/// The number of sorted rows in each range of row_splits.
ROWAN_IF_CALLED inline std::vector<std::size_t> counts_in(std::span<std::int64_t const> splits,
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

/// Distinct rows, and how many contributions each has.
struct RowCounts {
    std::vector<std::int64_t> rows, counts;

    RowCounts() = default;
    ROWAN_IF_CALLED explicit RowCounts(RowPlan<> const& plan) : rows(plan.rows().begin(), plan.rows().end()) {
        for (std::size_t k = 0; k < rows.size(); ++k) counts.push_back(plan.offsets()[k + 1] - plan.offsets()[k]);
    }
};

/// Where the contributions of each of rows begin among those of all ranks.
using FirstContributions = std::function<std::vector<std::int64_t>(RowCounts const& rows)>;

/// Where this rank's contributions to each row begin among those of the group's ranks, which begin at first(rows); the
/// first send[0] rows go to rank 0, which asks `first` for them, and so on.
/// cost     three exchanges of 8, 16 and 8 bytes a row
ROWAN_IF_CALLED inline std::vector<std::int64_t> first_contributions(Cpu exec, ProcessGroup const& group,
                                                                     std::int64_t height, RowCounts const& mine,
                                                                     std::span<std::size_t const> send,
                                                                     FirstContributions const& first) {
    struct RowCount {
        std::int64_t row, count;
    };
    auto const receive = exchange_counts(group, send);
    std::vector<RowCount> out(mine.rows.size()), in(total(receive));
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = {mine.rows[k], mine.counts[k]};
    group.alltoallv(sizeof(RowCount), bytes_of(std::as_const(out)), send, bytes_of(in), receive)->wait();
    std::vector<std::int64_t> rows(in.size()), answers(in.size()), at(out.size());
    std::ranges::transform(in, rows.begin(), &RowCount::row);
    RowPlan<> const plan(exec, rows, height);
    auto const each = [&](auto const& f) {  // f(k, i): in[i] is of row plan.rows()[k]
        for (std::size_t k = 0; k < plan.rows().size(); ++k) {
            for (auto i = plan.offsets()[k]; i < plan.offsets()[k + 1]; ++i)
                f(k, static_cast<std::size_t>(plan.positions()[static_cast<std::size_t>(i)]));
        }
    };
    RowCounts sums(plan);
    std::ranges::fill(sums.counts, 0);
    each([&](std::size_t k, std::size_t i) { sums.counts[k] += in[i].count; });
    auto next = first(sums);
    each([&](std::size_t k, std::size_t i) {
        answers[i] = next[k];
        next[k] += in[i].count;
    });
    group.alltoallv(sizeof(std::int64_t), bytes_of(std::as_const(answers)), receive, bytes_of(at), send)->wait();
    return at;
}

/// Sums the pieces of contributions of each row, in the order of ranks, as merge does. They are all; or, with `first`,
/// they begin there, one number for each distinct row, and make the greatest sums that merge would form. Result rows
/// ascend.
ROWAN_IF_CALLED inline RowPieces sum_contributions(Cpu exec, ElementSums const& type, RowPieces const& in,
                                                   std::span<std::int64_t const> first = {}) {
    auto out = in.like();
    RowPlan<> const plan(exec, in.rows, in.height);
    std::size_t const rows = plan.rows().size(), width = in.row_bytes / type.sum_bytes;
    auto const piece = [&](std::int64_t i) {
        return static_cast<std::size_t>(plan.positions()[static_cast<std::size_t>(i)]);
    };
    // Calls f(count) for the sums of row k.
    auto const each_sum = [&](std::size_t k, auto const& f) {
        std::int64_t n = 0;
        for (auto i = plan.offsets()[k]; i < plan.offsets()[k + 1]; ++i) n += in.keys[piece(i)];
        if (first.empty()) return f(n);
        BlockPieces::cut(first[k], n, [&](std::int64_t, std::int64_t count) { f(count); });
    };
    std::vector<std::size_t> begins{0};  // of the result's pieces of each row
    for (std::size_t k = 0; k < rows; ++k) {
        begins.push_back(begins[k]);
        each_sum(k, [&](std::int64_t) { ++begins[k + 1]; });
    }
    out.resize(begins[rows]);
    parallel_work(exec, in.rows.size() * width, rows, rows_per_range(in.row_bytes),
                  [&](std::size_t begin, std::size_t end) {
                      BlockPieces sum(type, width);
                      for (std::size_t k = begin; k < end; ++k) {
                          std::size_t to = begins[k];
                          auto i = plan.offsets()[k];
                          each_sum(k, [&](std::int64_t count) {
                              sum.begin();
                              for (std::int64_t done = 0; done < count; ++i) {
                                  sum.add(in.keys[piece(i)], in.bytes.data() + piece(i) * in.row_bytes);
                                  done += in.keys[piece(i)];
                              }
                              out.rows[to] = plan.rows()[k];
                              out.keys[to] = count;
                              sum.end(out.bytes.data() + to * in.row_bytes);
                              ++to;
                          });
                      }
                  });
    return out;
}

}  // namespace rowan::inline v0::detail

#endif
