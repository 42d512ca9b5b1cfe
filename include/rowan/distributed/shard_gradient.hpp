// rowan/distributed/shard_gradient.hpp: ShardGradient, the gradient of a rank's rows, for a step of an optimizer.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/storage.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/only_checking.hpp>
#include <rowan/detail/rows.hpp>
#include <rowan/detail/tree_sum.hpp>
#include <rowan/distributed/detail/row_fetch.hpp>
#include <rowan/distributed/detail/slots.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/detail/row_pieces.hpp>
#include <rowan/sparse/detail/row_sums.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The sums of the gradients of a lookup: first those of rows of other ranks, which travel; then those of this rank's
/// rows, of its own gradients and what has come from others. The constructor allocates all memory, so that a run cannot
/// fail halfway.
template <class T>
class ShardSums {
    using S = sum_t<T>;

public:
    /// `value` [ids of the lookup, width]; what others send is written to `came`, a row for each of fetch.asked().
    /// requires   fetch, met, value and came remain
    ShardSums(Cpu exec, RowFetch const& fetch, MetRows const& met, Tensor<T> const& value, std::byte const* came)
        : met_(met), width_(value.row_size()), rows_(fetch.own()),
          own_(part(exec, fetch, value, fetch.own_begin(), fetch.own_begin() + fetch.own().size())),
          shared_(met.of_others().empty() ? 0 : fetch.own().size() * width_), keys_(fetch.rank_keys()) {
        for (std::size_t const k : met.of_others()) rows_.push_back(met.rows()[k]);
        pieces_ = {element_sums<T>(), width_ * sizeof(S), came,
                   [this](std::size_t i) { return reinterpret_cast<std::byte const*>(shared_.data() + i * width_); },
                   keys_};
        auto const threads = static_cast<std::size_t>(threads_for(exec, 16 * met.of_others().size() * width_));
        trees_.assign(threads, pieces_.tree());
        tree_sums_ = Buffer<S>(threads * width_);
    }
    ShardSums(ShardSums const&) = delete;
    ShardSums& operator=(ShardSums const&) = delete;
    ~ShardSums() = default;

    std::size_t width() const { return width_; }
    /// This rank's rows of its lookup, and then those of which others have pieces.
    std::span<std::int64_t const> rows() const { return rows_; }

    /// Writes the sums of rows of other ranks to `send`, a row for each that travels.
    static void of_others(Cpu exec, RowFetch const& fetch, Tensor<T> const& value, std::span<std::byte> send) {
        std::size_t const width = value.row_size(), own = fetch.own().size(), begin = fetch.own_begin();
        if (width == 0) return;
        auto const write = [&](std::size_t first, std::size_t last) {
            if (first == last) return;
            auto* const to = reinterpret_cast<S*>(send.data()) + fetch.place(first) * width;
            part(exec, fetch, value, first, last)
                .run([](std::size_t) {}, [&]<class V>(as<V>, std::size_t k, S const* sum)
                                             ROWAN_INLINED { zip_with<V>(same_number{}, width, to + k * width, sum); });
        };
        write(0, begin);
        write(begin + own, own + fetch.received());
    }

    /// Calls f(k, sum) as RowSums::run, with the sum of all pieces of rows()[k], once for each row.
    template <class Prefetch, class F>
    void run(Prefetch const& prefetch, F const& f) {
        auto const own = [&](std::size_t k, S const* sum, auto const& call) ROWAN_INLINED {
            if (met_.others_have(k)) {
                std::copy_n(sum, width_, shared_.data() + k * width_);
            } else {
                call();
            }
        };
        if constexpr (std::is_invocable_v<F const&, as<S>, std::size_t, S const*>) {
            own_.run(prefetch, [&]<class V>(as<V> v, std::size_t k, S const* sum)
                                   ROWAN_INLINED { own(k, sum, [&]() ROWAN_INLINED { f(v, k, sum); }); });
            run_others(prefetch, [&](auto const& each) {
                on_lanes<S>(width_, [&]<class V>(as<V> v) ROWAN_INLINED {
                    each([&](std::size_t k, S const* sum) ROWAN_INLINED { f(v, k, sum); });
                });
            });
        } else {
            own_.run(prefetch, [&](std::size_t k, S const* sum) { own(k, sum, [&] { f(k, sum); }); });
            run_others(prefetch, [&](auto const& each) { each(f); });
        }
    }

private:
    /// Of rows [first, last) of the plan.
    static RowSums<T> part(Cpu exec, RowFetch const& fetch, Tensor<T> const& value, std::size_t first,
                           std::size_t last) {
        auto const& plan = fetch.plan();
        return {exec, plan.offsets().subspan(first, last - first + 1), plan.positions(),
                ElementRows<T>{value.data(), value.row_size()}};
    }

    /// Rows of which others have pieces, some at a time: with(each) calls each(g), which calls g(k, sum).
    template <class Prefetch, class With>
    void run_others(Prefetch const& prefetch, With const& with) {
        auto const& of_others = met_.of_others();
        std::size_t const n = of_others.size(), first = rows_.size() - n, ahead = lookahead(pieces_.bytes) / 2,
                          grain = trees_.size() == 1 ? n : rows_per_range(pieces_.bytes);
        std::atomic<std::size_t> next{0};
        team(static_cast<int>(trees_.size()), [&](std::size_t t) {
            auto* const to = reinterpret_cast<std::byte*>(tree_sums_.data() + t * width_);
            for (std::size_t begin = next.fetch_add(grain); begin < n; begin = next.fetch_add(grain)) {
                std::size_t const end = std::min(n, begin + grain);
                for (std::size_t i = begin; i < std::min(end, begin + ahead); ++i) prefetch(first + i);
                with([&](auto const& g) ROWAN_INLINED {
                    for (std::size_t i = begin; i < end; ++i) {
                        if (i + ahead < end) prefetch(first + i + ahead);
                        g(first + i, reinterpret_cast<S const*>(met_.sum_of(of_others[i], pieces_, trees_[t], to)));
                    }
                });
            }
        });
    }

    MetRows const& met_;
    std::size_t width_;
    Buffer<std::int64_t> rows_;
    RowSums<T> own_;
    Storage<S> shared_;  // the sums of own rows of which others have pieces, too
    std::vector<std::int64_t> keys_;
    MetRows::Pieces pieces_;
    std::vector<TreeSum> trees_;  // of each thread
    Buffer<S> tree_sums_;
};

}  // namespace detail

template <class T, communicator C, class Own>
class SharedRows;

/// The gradient of this rank's rows of a ShardedTable or ShardedKeyedTable, after an exchange: the gradients of its own
/// lookup, and the sums of other ranks. It takes the place of a SelectedRows in the optimizers (but lamb and Deferred)
/// and in update_rows, which sum the gradients of a row as they change it:
///
///     adagrad(exec, table.local(), moment, table.gradient(exec, lookup, rows_grad));
///
/// Sums have the bits of exchange(exec, lookup, rows_grad), but are not rounded to T before they are used.
template <class T>
class ShardGradient {
public:
    using value_type = T;

    /// The number of this rank's rows.
    std::int64_t height() const noexcept { return height_; }
    /// The rows that have a gradient, as in local(), ascending.
    std::span<std::int64_t const> rows() const& noexcept { return met_.rows(); }
    /// The gradient of the gather's result: a row for each id of this rank's lookup.
    Tensor<T> const& value() const& noexcept { return value_; }

    /// The sums, for one use.
    detail::ShardSums<T> sums(Cpu exec) const& { return {exec, *fetch_, met_, value_, came_.data()}; }

private:
    template <class U, communicator C, class Own>
    friend class SharedRows;
    ShardGradient() = default;

    std::shared_ptr<detail::RowFetch const> fetch_;
    Tensor<T> value_;
    detail::MetRows met_;
    detail::Storage<std::byte> came_;
    std::int64_t height_ = 0;
};

namespace detail {

template <class T>
inline constexpr bool is_gradient_on<ShardGradient<T>, Cpu> = true;

}  // namespace detail

/// Applies a rule to the rows of a gradient after an exchange: see update_rows for a SelectedRows.
/// shapes   grad of height h and row shape [...], param [h, ...], each state [h, any dims]
/// requires   several threads may call the rule concurrently
/// errors   those of update_rows for a SelectedRows
/// cost     one read of each gradient, of a row of other ranks, and of each row of param; if others
///          have rows of this rank, as much memory as the sums of its own rows of the lookup
template <class T, class Rule, class P, class... S>
void update_rows(Cpu exec, ShardGradient<T> const& grad, Rule const& rule, Tensor<P>& param, Tensor<S>&... state) {
    detail::RowUpdates<Cpu>::check_rule<Rule, T, P, S...>();
    detail::check_exec(exec);
    detail::check_sparse_targets<Rule>(grad.value(), grad.height(), param, state...);
    if (detail::only_checking()) return;
    auto sums = grad.sums(exec);
    detail::RowUpdates<Cpu>::with_sums<T>(sums.rows(), sums, rule, param, state...);
}

template <class T, class Rule, class P, class... S>
void update_rows(ShardGradient<T> const& grad, Rule const& rule, Tensor<P>& param, Tensor<S>&... state) {
    update_rows(Cpu{}, grad, rule, param, state...);
}

}  // namespace rowan::inline v0
