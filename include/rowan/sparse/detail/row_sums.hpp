// rowan/sparse/detail/row_sums.hpp: RowSums, the sums of duplicate rows, in parallel over rows.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace rowan::inline v0::detail {

/// The division of work: ranges of rows for one thread each, and heavy rows, which all threads sum together.
struct Shares {
    Buffer<std::size_t> first;  // share k: rows [first[k], first[k + 1]) of the plan
    Buffer<std::size_t> heavy;  // rows with more than heavy_from contributions
    std::size_t heavy_from;

    /// Of the rows whose lookups offsets say, as those of a plan.
    Shares(std::span<std::int64_t const> offsets, std::size_t threads);
};

/// The sums of a value's rows by a plan. The constructor allocates all memory, so that a run cannot fail halfway. An
/// element that is summed, and read and written elsewhere, is as much work as 16 that are read in order.
template <class T, class Rows = ElementRows<T>>
class RowSums {
public:
    using S = sum_t<T>;

    RowSums(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value)
        : RowSums(exec, plan, Rows{value.data(), plan.size() == 0 ? 0 : value.row_size()}) {}
    RowSums(Cpu exec, RowPlan<> const& plan, Rows const& rows)
        : RowSums(exec, plan.offsets(), plan.positions(), rows) {}
    /// Of some rows that follow each other in a plan: `offsets` is a part of that of the plan.
    RowSums(Cpu exec, std::span<std::int64_t const> offsets, std::span<std::int64_t const> positions, Rows const& rows)
        : offsets_(offsets), positions_(positions), width_(rows.width), ahead_(lookahead(rows.bytes()) / 2),
          threads_(static_cast<std::size_t>(threads_for(exec, 16 * size() * width_))), shares_(offsets, threads_),
          blocks_(threads_, BlockSum<T, S, Rows>(rows, size(), lookahead(rows.bytes()))),
          group_order_((heaviest() + group - 1) / group), group_sums_(group_order_.size() * width_),
          groups_(group_sums_.data(), width_, group_order_.size()) {
        std::iota(group_order_.begin(), group_order_.end(), std::int64_t{0});
    }

    /// Calls f(k, sum) once for each row k of offsets, on several threads; `sum` points to the elements of the row's
    /// sum. prefetch(k) prefetches the memory that f(k) will access. If f takes them, the call is f(as<V>(), k, sum), in a
    /// function that is compiled for registers V and goes over many rows.
    template <class Prefetch, class F>
    void run(Prefetch const& prefetch, F const& f) {
        std::atomic<std::size_t> next{0};
        team(static_cast<int>(threads_), [&](std::size_t t) {
            auto& block = blocks_[t];
            for (std::size_t i = next++; i + 1 < shares_.first.size(); i = next++) {
                run_share(shares_.first[i], shares_.first[i + 1], block, nullptr, prefetch, f);
            }
            stream_end();
        });
        for (std::size_t k : shares_.heavy) {
            sum_groups(k);
            run_share(k, k + 1, blocks_[0], groups_(group_order_.data(), (length(k) + group - 1) / group, 0), prefetch,
                      f);
            stream_end();
        }
    }

    std::size_t width() const { return width_; }

private:
    template <class F>
    static constexpr bool in_registers = std::is_invocable_v<F const&, as<S>, std::size_t, S const*>;
    static constexpr std::size_t group =
        block_size * block_size;  // contributions to a heavy row per unit of work of a thread

    std::size_t size() const { return static_cast<std::size_t>(offsets_.back() - offsets_.front()); }
    std::size_t begin(std::size_t k) const { return static_cast<std::size_t>(offsets_[k]); }
    std::size_t length(std::size_t k) const { return begin(k + 1) - begin(k); }
    std::size_t heaviest() const {
        std::size_t most = 0;
        for (std::size_t k : shares_.heavy) most = std::max(most, length(k));
        return most;
    }

    /// Rows [k, end) except heavy ones, or the heavy row k with its sum.
    template <class Prefetch, class F>
    void run_share(std::size_t k, std::size_t end, BlockSum<T, S, Rows>& block, S const* sum_of_heavy,
                   Prefetch const& prefetch, F const& f) {
        std::size_t const last = begin(end);
        for (std::size_t i = k; i < std::min(end, k + ahead_); ++i) prefetch(i);
        auto const each = [&](auto const& call) ROWAN_INLINED {
            for (; k < end; ++k) {
                if (k + ahead_ < end) prefetch(k + ahead_);
                if (sum_of_heavy != nullptr)
                    call(sum_of_heavy);
                else if (length(k) <= shares_.heavy_from)
                    call(block(positions_.data() + begin(k), length(k), last - begin(k + 1)));
            }
        };
        if constexpr (in_registers<F>) {
            on_lanes<S>(width_, [&]<class V>(as<V> v)
                                    ROWAN_INLINED { each([&](S const* sum) ROWAN_INLINED { f(v, k, sum); }); });
        } else {
            each([&](S const* sum) { f(k, sum); });
        }
    }

    void sum_groups(std::size_t k) {
        std::atomic<std::size_t> next{0};
        team(static_cast<int>(threads_), [&](std::size_t t) {
            for (std::size_t i = next.fetch_add(group); i < length(k); i = next.fetch_add(group)) {
                std::size_t const n = std::min(group, length(k) - i);
                S const* const sum = blocks_[t](positions_.data() + begin(k) + i, n, length(k) - i - n);
                std::copy_n(sum, width_, group_sums_.data() + i / group * width_);
            }
        });
    }

    std::span<std::int64_t const> offsets_, positions_;
    std::size_t width_;
    std::size_t ahead_;
    std::size_t threads_;
    Shares shares_;
    Buffer<BlockSum<T, S, Rows>> blocks_;  // one per thread
    Buffer<std::int64_t> group_order_;
    Buffer<S> group_sums_;
    BlockSum<S, S> groups_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/sparse/detail/row_sums_inl.hpp>
