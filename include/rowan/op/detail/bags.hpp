// rowan/op/detail/bags.hpp: Bags, bags of ids of table rows in the memory of any device, and their checks.
#pragma once

#include <rowan/detail/arithmetic.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/sequence_pool.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

constexpr void check_bag_pool(Pooling pool) {
    if (pool != Pooling::sum && pool != Pooling::mean && pool != Pooling::sqrt && pool != Pooling::max)
        throw ValueError("pool", static_cast<int>(pool), "one of sum, mean, sqrt, max");
}

/// Checks the arguments of a lookup on any device, except whether the ids are in range.
template <class T, class I, class D>
void check_id_bags(D const& exec, LoDTensor<I, D> const& ids, Pooling pool) {
    static_assert(floating_element<T>, "rowan::embedding_bag: the table must have a floating-point type");
    check_bag_pool(pool);
    check_sequences(exec, "ids", ids);
    if (ids.value().dimension() != 1) throw ShapeError("ids rank", ids.value().dimension(), "1");
}

template <class T, class I, class D>
void check_weights(Tensor<T, D> const& weight, LoDTensor<I, D> const& ids) {
    if (weight.shape() != ids.value().shape())
        throw ShapeError("weight.shape()", shape_text(weight.shape()), shape_text(ids.value().shape()));
}

template <class T, class I, class D>
void check_bags(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids, Tensor<T, D> const* weight,
                Pooling pool) {
    check_id_bags<T>(exec, ids, pool);
    check_rows("table", table);
    if (weight != nullptr) check_weights(*weight, ids);
}

/// The bags of a lookup, in the memory of any device.
template <class T, class I>
struct Bags {
    using S = sum_t<T>;

    T const* table;
    std::size_t height;
    std::size_t width;
    I const* ids;
    T const* weights;  // nullptr: all 1
    std::int64_t const* offsets;
    std::size_t bags;
    Pooling pool;

    /// Bad ids read row 0: the call has already failed, but parts of it may run nevertheless.
    ROWAN_HD T const* row(std::size_t i) const {
        auto const id = static_cast<std::size_t>(std::int64_t{ids[i]});
        return table + (id < height ? id : 0) * width;
    }
    ROWAN_HD std::size_t begin(std::size_t bag) const { return static_cast<std::size_t>(offsets[bag]); }

    ROWAN_KERNEL S weight(std::size_t i) const { return weights == nullptr ? constant<S>(1.0) : load<S>(weights + i); }

    ROWAN_KERNEL S weighted(std::size_t i, std::size_t column) const {
        S const x = load<S>(row(i) + column);
        return weights == nullptr ? x : product(x, weight(i));
    }

    /// The divisor of the weighted sum of a bag; 0 means that the result of the bag is 0.
    ROWAN_KERNEL S divisor(std::size_t bag) const {
        std::size_t const first = begin(bag), end = begin(bag + 1);
        auto const n = static_cast<double>(end - first);
        bool const mean = pool == Pooling::mean;
        if (!mean && pool != Pooling::sqrt) return constant<S>(1.0);
        if (weights == nullptr) return constant<S>(mean ? n : square_root(n));
        S sum = constant<S>(0.0);
        for (std::size_t i = first; i < end; ++i) {
            S const w = weight(i);
            sum = plus(sum, mean ? w : product(w, w));
        }
        return divisor_of(mean, sum, first, end, [this](std::size_t i) { return weight(i); });
    }

    /// A column of a bag: total / d, where the total is the sum of its weighted elements, and d the divisor.
    ROWAN_KERNEL S share(std::size_t bag, std::size_t column, S const& total, S const& d) const {
        if (pool == Pooling::sum || pool == Pooling::max) return quotient(total, d);
        return share_of(
            total, d, pool == Pooling::mean, begin(bag), begin(bag + 1), [this](std::size_t i) { return weight(i); },
            [&](std::size_t i) { return load<S>(row(i) + column); });
    }

    /// The weighted sum of a column of a bag, in the order of the ids.
    ROWAN_KERNEL S total(std::size_t bag, std::size_t column) const {
        S sum = constant<S>(0.0);
        for (std::size_t i = begin(bag); i < begin(bag + 1); ++i)
            sum = plus(sum, product(weight(i), load<S>(row(i) + column)));
        return sum;
    }

    /// The gradient of weight i: Σ (x - out · d') / d · out_grad over the columns of its bag, with d' = 1 for the mean,
    /// w / d for sqrt and 0 for the sum. `totals` are those of the columns.
    ROWAN_KERNEL S weight_grad(std::size_t i, S const& d, S const* totals, T const* out_grad) const {
        S slope = constant<S>(pool == Pooling::mean ? 1.0 : 0.0);
        if (pool == Pooling::sqrt) slope = quotient(weight(i), d);
        S grad = constant<S>(0.0);
        for (std::size_t k = 0; k < width; ++k) {
            S const x = load<S>(row(i) + k);
            S const change = quotient(S(x - product(quotient(totals[k], d), slope)), d);
            grad = plus(grad, product(change, load<S>(out_grad + k)));
        }
        return grad;
    }
};

template <class T, class I, class D>
Bags<T, I> make_bags(Tensor<T, D> const& table, LoDTensor<I, D> const& ids, Tensor<T, D> const* weight,
                     std::int64_t const* offsets, Pooling pool) {
    return {.table = table.data(),
            .height = table.shape()[0],
            .width = table.row_size(),
            .ids = ids.value().data(),
            .weights = weight == nullptr ? nullptr : weight->data(),
            .offsets = offsets,
            .bags = last_level(ids.lod()).size() - 1,
            .pool = pool};
}

}  // namespace rowan::inline v0::detail
