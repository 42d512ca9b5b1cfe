// rowan/op/table/update_bags.hpp: update_bags, a step of an optimizer for many tables by the gradient of their bags.
#pragma once

#include <rowan/op/detail/table_bags.hpp>
#include <rowan/op/table/functions.hpp>
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

template <class T, class I>
void update_tables(Cpu exec, TableBags<T, I, Cpu>&& all, Tensor<T> const& out_grad, BagStep<T> const& update) {
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

template <>
struct detail::function_of<detail::bags_update> {
    template <class T, class I>
    static void run(Cpu const& exec, std::span<Tensor<T> const> tables, LoDTensor<I> const& ids,
                    Tensor<T> const* weight, Tensor<T> const& out_grad, BagStep<T> const& update, Pooling pool) {
        update_tables(exec, TableBags<T, I, Cpu>(exec, tables, ids, weight, pool), out_grad, update);
    }
};

}  // namespace rowan::inline v0
