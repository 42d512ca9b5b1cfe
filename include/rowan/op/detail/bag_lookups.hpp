// rowan/op/detail/bag_lookups.hpp: BagLookups, the pooling of bags of ids to rows of a table, and its gradient.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/fill.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/block_sum.hpp>
#include <rowan/detail/extremes.hpp>
#include <rowan/detail/pool_bags.hpp>
#include <rowan/detail/rows.hpp>
#include <rowan/op/detail/bags.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// Looks up bags on a device. The Thrust specialization is in rowan/thrust/op/embedding_bag.hpp.
template <class D>
struct BagLookups {
    static_assert(has_backend<D>,
                  "rowan: embedding_bag on a Thrust device needs #include <rowan/thrust/op/embedding_bag.hpp>");
};

/// Writes share · from[i] for each element of a row.
template <class V, class S, class T>
ROWAN_INLINE void write_share(S share, std::size_t width, T* to, T const* from) {
    zip_with<V>([&](auto const& x) ROWAN_INLINED { return product(x, std::remove_cvref_t<decltype(x)>(share)); }, width,
                to, from);
}

template <>
struct BagLookups<Cpu> {
    template <class T, class I>
    static LoDTensor<T> lookup(Cpu exec, Tensor<T> const& table, LoDTensor<I> const& ids, Tensor<T> const* weight,
                               Pooling pool) {
        check_ids(exec, "ids", ids.value(), height_of(table));
        std::span<std::int64_t const> const offsets = last_level(ids.lod());
        auto const bags = make_bags(table, ids, weight, offsets.data(), pool);
        Buffer<std::int64_t> copy;
        auto const* const rows = positions(ids.value(), copy);
        std::size_t const width = table.row_size();
        auto shape = table.shape();
        shape[0] = bags.bags;
        auto out = Tensor<T>::from_shape(shape);
        bool const one = one_each(bags), stream = out.size() * sizeof(T) >= stream_from;
        for_sequences(exec, offsets, width, [&](std::size_t begin, std::size_t end) {
            T* const to = out.data() + begin * width;
            if (one)
                copy_range(bags, rows, ids.value().size(), begin, end, to, width, stream);
            else
                pool_range(bags, rows, ids.value().size(), begin, end, to, width);
        });
        return {std::move(out), upper_levels(ids.lod())};
    }

    /// Whether each bag is one id without weight: then its row is that of the table, for any pool.
    template <class T, class I>
    static bool one_each(Bags<T, I> const& bags) {
        std::span const offsets(bags.offsets, bags.bags + 1);
        return bags.weights == nullptr && offsets.back() - offsets.front() == static_cast<std::int64_t>(bags.bags) &&
               longest_of(offsets, 0, bags.bags) <= 1;
    }

    /// pool_range for bags of one id each.
    template <class T, class I>
    static void copy_range(Bags<T, I> const& bags, std::int64_t const* rows, std::size_t ids, std::size_t begin,
                           std::size_t end, T* to, std::size_t stride, bool stream) {
        std::size_t const bytes = bags.width * sizeof(T), ahead = 2 * lookahead(bytes);
        if (bytes == 0) return;  // and no memory
        auto const row = [&](std::size_t i) { return bags.table + static_cast<std::size_t>(rows[i]) * bags.width; };
        std::size_t i = bags.begin(begin);
        std::size_t const last = i + (end - begin);
        for (std::size_t k = i; k < std::min(ids, i + ahead); ++k) prefetch_row<false>(row(k), bytes);
        for (; i < last; ++i, to += stride) {
            if (i + ahead < ids) prefetch_row<false>(row(i + ahead), bytes);
            if (stream)
                stream_copy(to, row(i), bytes);
            else
                std::memcpy(to, row(i), bytes);
        }
        if (stream) stream_end();
    }

    /// Writes the rows of bags [begin, end) to `to`, `stride` elements apart. rows[i] is id i, for i below `ids`.
    template <class T, class I>
    static void pool_range(Bags<T, I> const& bags, std::int64_t const* rows, std::size_t ids, std::size_t begin,
                           std::size_t end, T* to, std::size_t stride) {
        using S = sum_t<T>;
        std::size_t const width = bags.width;
        T const one = dtype<T>::narrow(constant<S>(1.0));
        bool const weighted = bags.weights != nullptr;
        RowBags const all{bags.offsets, rows, ids};
        WeightedRow<T> const terms{weighted ? bags.weights : &one, weighted};
        BlockSum<T, S> sum({bags.table, width}, all.longest(begin, end), 2 * lookahead(width * sizeof(T)));
        auto const divisor = [&](std::size_t bag) { return bags.divisor(bag); };
        auto const share = [&](std::size_t bag, std::size_t column, S const& total, S const& d) {
            return bags.share(bag, column, total, d);
        };
        auto const pool_by = [&]<class V>(as<V>, auto const& fold) ROWAN_INLINED {
            pool_bags<V>(sum, all, begin, end, to, stride, terms, divisor, share, fold);
        };
        if (bags.pool == Pooling::max)
            on_lanes<S>(width, [&]<class V>(as<V> v) ROWAN_INLINED { pool_by(v, keep_extreme<true>{}); });
        else
            on_lanes<S>(width, [&]<class V>(as<V> v) ROWAN_INLINED { pool_by(v, add_lanes{}); });
    }

    /// The ids as positions of rows, in `copy` if they have another type.
    template <class I>
    static std::int64_t const* positions(Tensor<I> const& ids, [[maybe_unused]] Buffer<std::int64_t>& copy) {
        if constexpr (std::is_same_v<I, std::int64_t>) {
            return ids.data();
        } else {
            copy.assign(ids.data(), ids.data() + ids.size());
            return copy.data();
        }
    }

    /// Returns one row of gradient for each id; also writes the gradients of the weights unless weight_grad is null.
    template <class T, class I>
    static SelectedRows<T> grad(Cpu exec, Tensor<T> const& table, LoDTensor<I> const& ids, Tensor<T> const* weight,
                                Tensor<T> const& out_grad, Pooling pool, Tensor<T>* weight_grad) {
        using S = sum_t<T>;
        check_ids(exec, "ids", ids.value(), height_of(table));
        std::span<std::int64_t const> const offsets = last_level(ids.lod());
        auto const bags = make_bags(table, ids, weight, offsets.data(), pool);
        check_height("out_grad", out_grad, static_cast<std::int64_t>(bags.bags));
        check_trailing("out_grad", out_grad, table.shape());
        std::size_t const width = table.row_size();
        auto shape = table.shape();
        shape[0] = ids.value().size();
        auto value = Tensor<T>::from_shape(shape);
        for_sequences(exec, offsets, width, [&](std::size_t bag, std::size_t end) {
            Buffer<S> best(width), total(width), of_weights;
            Buffer<std::size_t> position(width);
            auto const zero_bag = [&](std::size_t b) {
                fill_elements(value.data() + bags.begin(b) * width, length_at(offsets, b) * width, zero<T>());
            };
            auto const write_shares = [&]<class V>(as<V>) ROWAN_INLINED {
                for (std::size_t b = bag; b < end; ++b) {
                    S const divisor = bags.divisor(b);
                    if (divisor == constant<S>(0.0)) {
                        zero_bag(b);
                        continue;
                    }
                    for (std::size_t i = bags.begin(b); i < bags.begin(b + 1); ++i) {
                        write_share<V>(bags.weight(i) / divisor, width, value.data() + i * width,
                                       out_grad.data() + b * width);
                    }
                }
            };
            if (pool != Pooling::max) {
                on_lanes<S>(width, write_shares);
                if (weight_grad == nullptr) return;
            }
            for (; bag < end; ++bag) {
                std::size_t const n = length_at(offsets, bag), first = bags.begin(bag);
                T const* const g = out_grad.data() + bag * width;
                S const divisor = bags.divisor(bag);
                if (pool == Pooling::max) zero_bag(bag);
                if (n == 0 || divisor == constant<S>(0.0)) continue;
                if (pool == Pooling::max) {
                    largest(bags, bag, best, position);
                    if (weight_grad != nullptr) of_weights.assign(n, constant<S>(0.0));
                    for (std::size_t k = 0; k < width; ++k) {
                        std::size_t const i = first + position[k];
                        S const grad = dtype<T>::widen(g[k]);
                        value.data()[i * width + k] = dtype<T>::narrow(product(bags.weight(i), grad));
                        if (weight_grad == nullptr) continue;
                        S& w = of_weights[position[k]];
                        w = plus(w, product(S(dtype<T>::widen(bags.row(i)[k])), grad));
                    }
                    if (weight_grad != nullptr) copy_lanes<S>(n, of_weights.data(), weight_grad->data() + first);
                    continue;
                }
                for (std::size_t k = 0; k < width; ++k) total[k] = bags.total(bag, k);
                for (std::size_t i = first; i < first + n; ++i)
                    store(bags.weight_grad(i, divisor, total.data(), g), weight_grad->data() + i);
            }
        });
        Buffer<std::int64_t> rows(ids.value().data(), ids.value().data() + ids.value().size());
        return SelectedRowsAccess::make(height_of(table), rows, std::move(value));
    }

private:
    /// Writes for each column the largest element of the weighted rows of a bag, and its position in the bag. Ties go
    /// to the first.
    template <class T, class I, class S>
    static void largest(Bags<T, I> const& bags, std::size_t bag, Buffer<S>& best, Buffer<std::size_t>& position) {
        std::size_t const first = bags.begin(bag);
        for (std::size_t i = first; i < bags.begin(bag + 1); ++i) {
            for (std::size_t k = 0; k < bags.width; ++k) {
                S const x = bags.weighted(i, k);
                if (i != first && !more_extreme<true>{}(x, best[k])) continue;
                best[k] = x;
                position[k] = i - first;
            }
        }
    }
};

}  // namespace rowan::inline v0::detail
