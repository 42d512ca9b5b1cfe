// rowan/distributed/shard_gradient.hpp: ShardGradient, the gradient of a rank's rows, for a step of an optimizer.
#pragma once

#include <rowan/core/detail/storage.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/only_checking.hpp>
#include <rowan/distributed/detail/met_rows.hpp>
#include <rowan/distributed/detail/row_fetch.hpp>
#include <rowan/distributed/detail/shard_sums.hpp>
#include <rowan/sparse/detail/optimizer.hpp>
#include <rowan/sparse/update_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace rowan::inline v0 {

namespace detail {

template <class T, communicator C>
class RowShards;

}  // namespace detail

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
    template <class U, communicator C>
    friend class detail::RowShards;
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
