// rowan/detail/for_each_sum.hpp: the sums of duplicates, one row at a time, in parallel over rows.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <vector>

namespace rowan::inline v0::detail {

/// Work for one thread at a time: a range of rows, and the rows so often repeated that all threads sum them together.
struct Shares {
    std::vector<std::size_t> first;  // share k is the rows [first[k], first[k + 1]) of the plan
    std::vector<std::size_t> heavy;  // rows with more than heavy_from contributions
    std::size_t heavy_from;

    Shares(RowPlan<> const& plan, std::size_t threads) {
        auto const offsets = plan.offsets();
        std::size_t const rows = plan.rows().size();
        std::size_t const count = threads == 1 ? 1 : threads * 16;
        std::size_t const grain = plan.size() / count + 1;
        heavy_from = threads == 1 ? plan.size() : 2 * grain;
        first.push_back(0);
        for (std::size_t begin = grain; count > 1 && begin < plan.size(); begin += grain) {
            auto const at = std::lower_bound(offsets.begin(), offsets.end() - 1, static_cast<std::int64_t>(begin));
            auto const k = static_cast<std::size_t>(at - offsets.begin());
            if (k == first.back()) continue;
            first.push_back(k);
            if (static_cast<std::size_t>(offsets[k] - offsets[k - 1]) > heavy_from) heavy.push_back(k - 1);
        }
        if (first.back() != rows) first.push_back(rows);
        std::size_t const last = rows > 0 ? rows - 1 : 0;
        if (rows > 0 && plan.size() - static_cast<std::size_t>(offsets[last]) > heavy_from && (heavy.empty() || heavy.back() != last)) {
            heavy.push_back(last);
        }
    }
};

/// Calls f(k, sum) once for every row plan.rows()[k], `sum` pointing to its summed elements; `prefetch(k)` asks for what f(k) will touch.
/// All memory is allocated before the first call of f.
template <class T, class Prefetch, class F>
void for_each_sum(Cpu exec, RowPlan<> const& plan, Tensor<T> const& value, Prefetch const& prefetch, F const& f) {
    using S = sum_t<T>;
    std::size_t const width = value.row_size();
    auto const offsets = plan.offsets();
    auto const length = [&](std::size_t k) { return static_cast<std::size_t>(offsets[k + 1] - offsets[k]); };
    auto const threads = static_cast<std::size_t>(value.size() < serial_below ? 1 : thread_count(exec));
    Shares const shares(plan, threads);
    std::vector<BlockSum<T, S>> blocks(threads, BlockSum<T, S>(value.data(), width, plan.size()));

    std::size_t most = 0;
    for (std::size_t k : shares.heavy) most = std::max(most, length(k));
    constexpr std::size_t group = block_size * block_size;
    std::vector<S> group_sums((most + group - 1) / group * width);
    std::vector<std::int64_t> group_order(group_sums.empty() ? 0 : group_sums.size() / width);
    std::iota(group_order.begin(), group_order.end(), std::int64_t{0});
    BlockSum<S, S> all_groups(group_sums.data(), width, group_order.size());

    std::size_t const ahead = lookahead(width * sizeof(T)) / 2;
    std::atomic<std::size_t> next{0};
    auto const work = [&](std::size_t thread) {
        auto& block = blocks[thread];
        for (std::size_t share = next++; share + 1 < shares.first.size(); share = next++) {
            std::size_t const end = shares.first[share + 1];
            std::size_t k = shares.first[share];
            auto const last = static_cast<std::size_t>(offsets[end]);
            for (std::size_t i = k; i < std::min(end, k + ahead); ++i) prefetch(i);
            for (; k < end; ++k) {
                if (k + ahead < end) prefetch(k + ahead);
                if (length(k) > shares.heavy_from) continue;
                f(k, block(plan.positions().data() + offsets[k], length(k), last - static_cast<std::size_t>(offsets[k + 1])));
            }
        }
    };
    team(static_cast<int>(threads), [&](int t, int) {
        work(static_cast<std::size_t>(t));
        stream_end();
    });

    for (std::size_t k : shares.heavy) {
        std::size_t const groups = (length(k) + group - 1) / group;
        next = 0;
        team(static_cast<int>(threads), [&](int t, int) {
            for (std::size_t i = next++; i < groups; i = next++) {
                std::size_t const n = std::min(group, length(k) - i * group);
                S const* const sum = blocks[static_cast<std::size_t>(t)](plan.positions().data() + offsets[k] + i * group, n, 0);
                std::copy_n(sum, width, group_sums.data() + i * width);
            }
        });
        f(k, all_groups(group_order.data(), groups, 0));
        stream_end();
    }
}

}  // namespace rowan::inline v0::detail
