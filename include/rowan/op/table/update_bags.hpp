// rowan/op/table/update_bags.hpp: update_bags, a step of an optimizer for many tables by the gradient of their bags.
#pragma once

#include <rowan/op/detail/table_bags.hpp>
#include <rowan/op/table/declared.hpp>
#include <rowan/sparse/row_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The gradient of the rows of the bags of table t, each divided by its divisor of `pool`.
template <class T, class I>
Tensor<T> grad_of_bags(TableBags<T, I, Cpu> const& all, std::size_t t, Pooling pool, Tensor<T> const& out_grad) {
    using S = sum_t<T>;
    auto bags = all.bags(t);
    bags.pool = pool;
    auto grad = Tensor<T>::from_shape(all.shape(t));
    T const* const from = all.batch() == 0 ? nullptr : out_grad.data() + all.column(t);
    on_lanes<S>(bags.width, [&]<class V>(as<V>) ROWAN_INLINED {
        for (std::size_t b = 0; b < all.batch(); ++b) {
            if (b + 16 < all.batch()) prefetch_row<false>(from + (b + 16) * all.width(), bags.width * sizeof(T));
            S const divisor = bags.divisor(b);
            S const share = divisor == constant<S>(0.0) ? divisor : constant<S>(1.0) / divisor;
            write_share<V>(share, bags.width, grad.data() + b * bags.width, from + b * all.width());
        }
    });
    return grad;
}

template <class T, class I, class F>
void update_tables(Cpu exec, TableBags<T, I, Cpu>&& all, Tensor<T> const& out_grad, F const& update) {
    static_assert(
        std::is_invocable_v<F const&, Cpu, std::size_t, RowPlan<> const&, Tensor<T> const&>,
        "rowan::update_bags: the step must take (Cpu, std::size_t table, RowPlan<> const&, Tensor<T> const&)");
    all.check_grad(out_grad);
    all.keep_known(exec);
    int const threads = thread_count(exec);
    bool const by_tables = all.size() >= static_cast<std::size_t>(threads);
    bool const by_bags = all.weight() == nullptr && all.pool() != Pooling::max;
    Cpu const inner{by_tables ? 1 : threads};
    for_each_share(by_tables ? threads : 1, all.size(), [&](std::size_t t) {
        auto const grad = grad_of_bags(all, t, by_bags ? all.pool() : Pooling::sum, out_grad);
        if (by_bags) {
            auto const offsets = all.offsets(t);
            std::vector<std::int64_t> starts(offsets.begin(), offsets.end());
            for (std::int64_t& start : starts) start -= offsets[0];
            update(inner, t, RowPlan<>(inner, all.ids_of(t), starts, height_of(all.table(t))), grad);
        } else {
            auto const rows = all.grad(inner, t, grad);
            update(inner, t, RowPlan<>(inner, rows), rows.value());
        }
    });
}

}  // namespace detail

/// Calls update(exec, t, plan, grad) once for each table: the backward pass of embedding_bags, with a step of any
/// optimizer. `plan` has the rows of table t that the bags name, and `grad` the gradient of its bags, so that no
/// gradient of the single rows is made; that is made, of one table for each thread, for max and with weights:
///     update_bags(exec, tables, ids, out_grad, [&](Cpu e, std::size_t t, RowPlan<> const& plan, auto const& grad) {
///         rowwise_adagrad(e, plan, tables[t], moments[t], grad);
///     });
/// The parameters have the bits of a step with embedding_bag_grad.
/// shapes   out_grad of the shape that embedding_bags returns
/// requires tables do not share memory, and update may be called for several tables at the same time, unless
///          exec.threads is 1
/// errors   as embedding_bags; ShapeError if out_grad has another shape; then nothing is called; std::bad_alloc or the
///          first error of update, after which it is called for no more tables
/// cost     a sort of the ids, one read and a copy of out_grad, and the cost of update; tables are divided among threads if there
///          are as many, else update is passed the threads; for max and with weights also embedding_bag_grad
template <class T, id_type I, class F>
void update_bags(Cpu exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids, Tensor<T> const& out_grad,
                 F const& update, Pooling pool = Pooling::sum) {
    Tensor<T> const* const none = nullptr;
    detail::update_tables(exec, detail::TableBags<T, I, Cpu>(exec, tables, ids, none, pool), out_grad, update);
}
template <class T, id_type I, class F>
void update_bags(Cpu exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids,
                 std::type_identity_t<Tensor<T>> const& weight, std::type_identity_t<Tensor<T>> const& out_grad,
                 F const& update, Pooling pool = Pooling::sum) {
    detail::update_tables(exec, detail::TableBags<T, I, Cpu>(exec, tables, ids, &weight, pool), out_grad, update);
}

}  // namespace rowan::inline v0
