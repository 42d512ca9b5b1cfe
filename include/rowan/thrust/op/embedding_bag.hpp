// rowan/thrust/op/embedding_bag.hpp: embedding_bag on a device, with and without weights.
#pragma once

#include <rowan/op/weighted_embedding_bag.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/on_device.hpp>
#include <rowan/thrust/sequence/detail/sequence_sums.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>
#include <rowan/thrust/sequence/sequence_pool.hpp>
#include <rowan/thrust/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

/// The bags of a lookup in the memory of a device.
template <class T, class I>
struct DeviceBags {
    using S = sum_t<T>;

    T const* table;
    std::size_t height;
    std::size_t width;
    I const* ids;
    T const* weights;  // none: 1 for all
    std::int64_t const* offsets;
    std::size_t bags;
    Pooling pool;

    /// Of a bad id, for which the call has failed, row 0: some of what follows runs all the same.
    ROWAN_HD T const* row(std::size_t i) const {
        auto const id = static_cast<std::size_t>(std::int64_t{ids[i]});
        return table + (id < height ? id : 0) * width;
    }
    ROWAN_HD S weight(std::size_t i) const { return weights == nullptr ? constant<S>(1.0) : load<S>(weights + i); }
    ROWAN_HD std::size_t begin(std::size_t bag) const { return static_cast<std::size_t>(offsets[bag]); }
    ROWAN_HD std::size_t bag_of(std::size_t i) const { return find_block(offsets, bags, i); }
    ROWAN_HD S weighted(std::size_t i, std::size_t column) const {
        S const x = load<S>(row(i) + column);
        return weights == nullptr ? x : product(x, weight(i));
    }
};

/// What the weighted sum of each bag is divided by; 0 stands for a bag that gives zeros.
template <class T, class I>
struct BagDivisor {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    S* divisors;

    ROWAN_HD void operator()(std::size_t bag) const {
        std::size_t const begin = in.begin(bag), end = in.begin(bag + 1);
        auto const n = static_cast<double>(end - begin);
        bool const mean = in.pool == Pooling::mean;
        if (!mean && in.pool != Pooling::sqrt) {
            divisors[bag] = constant<S>(1.0);
        } else if (in.weights == nullptr) {
            divisors[bag] = constant<S>(mean ? n : square_root(n));
        } else {
            S sum = constant<S>(0.0);
            for (std::size_t i = begin; i < end; ++i) {
                S const w = in.weight(i);
                sum = plus(sum, mean ? w : product(w, w));
            }
            divisors[bag] = mean ? sum : square_root(sum);
        }
    }
};

/// Weighted rows to be summed.
template <class T, class I>
struct BagRows {
    using Sum = sum_t<T>;
    DeviceBags<T, I> in;

    template <int N>
    ROWAN_HD Chunk<Sum, N> at(std::int64_t i, std::size_t column) const {
        auto const at = static_cast<std::size_t>(i);
        auto const found = *reinterpret_cast<Chunk<T, N> const*>(in.row(at) + column);
        Chunk<Sum, N> wide;
        for (int e = 0; e < N; ++e) {
            Sum const x = load<Sum>(found.x + e);
            wide.x[e] = in.weights == nullptr ? x : product(x, in.weight(at));
        }
        return wide;
    }
    ROWAN_HD void combine(Sum& sum, Sum const& more) const { sum = plus(sum, more); }
};

/// Weighted elements of which the largest are taken.
template <class T, class I>
struct BagElements {
    using Sum = Extreme<sum_t<T>>;
    DeviceBags<T, I> in;

    template <int N>
    ROWAN_HD Chunk<Sum, N> at(std::int64_t i, std::size_t column) const {
        Chunk<Sum, N> wide;
        for (int e = 0; e < N; ++e)
            wide.x[e] = {in.weighted(static_cast<std::size_t>(i), column + static_cast<std::size_t>(e)), i};
        return wide;
    }
    ROWAN_HD void combine(Sum& best, Sum const& more) const {
        if (more_extreme<true>{}(more.x, best.x)) best = more;
    }
};

/// Writes the sums of bags, divided; those of no ids, or that would be divided by 0, are zeros already.
template <class T>
struct StoreBag {
    using S = sum_t<T>;
    S const* divisors;
    T* to;
    std::size_t width;

    template <int N>
    ROWAN_HD void operator()(std::size_t bag, std::size_t, std::size_t column, Chunk<S, N> const& sum) const {
        S const divisor = divisors[bag];
        if (divisor == constant<S>(0.0)) return;
        Chunk<T, N> made;
        for (int e = 0; e < N; ++e) store(quotient(sum.x[e], divisor), made.x + e);
        *reinterpret_cast<Chunk<T, N>*>(to + bag * width + column) = made;
    }
    template <int N>
    ROWAN_HD void empty(std::size_t, std::size_t) const {}
};

/// Keeps which id has the largest element of a column, and gives it the gradient.
template <class T, class I>
struct GiveToLargest {
    DeviceBags<T, I> in;
    T const* out_grad;
    T* value;
    std::int64_t* positions;

    template <class E>
    ROWAN_HD void operator()(std::size_t bag, std::size_t, std::size_t column, Chunk<E, 1> const& best) const {
        using S = sum_t<T>;
        auto const i = static_cast<std::size_t>(best.x[0].row);
        std::size_t const at = bag * in.width + column;
        positions[at] = best.x[0].row;
        store(product(in.weight(i), load<S>(out_grad + at)), value + i * in.width + column);
    }
    template <int N>
    ROWAN_HD void empty(std::size_t, std::size_t) const {}
};

/// The share of a bag's gradient that its ids get.
template <class T, class I>
struct ShareOfBag {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    S const* divisors;
    T const* out_grad;
    T* value;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = width.quotient(k), bag = in.bag_of(i);
        S const divisor = divisors[bag];
        if (divisor == constant<S>(0.0)) return;
        S const g = load<S>(out_grad + bag * width.by + (k - i * width.by));
        store(product(g, quotient(in.weight(i), divisor)), value + k);
    }
};

/// The weighted sum of a column of a bag, one id after the other.
template <class T, class I>
struct SumOfBag {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    S* totals;
    FastDivmod width;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const bag = width.quotient(k), column = k - bag * width.by;
        S total = constant<S>(0.0);
        for (std::size_t i = in.begin(bag); i < in.begin(bag + 1); ++i)
            total = plus(total, product(in.weight(i), load<S>(in.row(i) + column)));
        totals[k] = total;
    }
};

/// The gradient of a weight: Σ (x - out · d') / d · grad with d' = 1 for the mean and w / d for the root.
template <class T, class I>
struct WeightGrad {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    S const *divisors, *totals;
    T const* out_grad;
    T* weight_grad;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const bag = in.bag_of(i);
        S const divisor = divisors[bag];
        if (divisor == constant<S>(0.0)) return;
        S slope = constant<S>(in.pool == Pooling::mean ? 1.0 : 0.0);
        if (in.pool == Pooling::sqrt) slope = quotient(in.weight(i), divisor);
        S grad = constant<S>(0.0);
        for (std::size_t k = 0; k < in.width; ++k) {
            S const x = load<S>(in.row(i) + k), total = quotient(totals[bag * in.width + k], divisor);
            S const change = quotient(S(x - product(total, slope)), divisor);
            grad = plus(grad, product(change, load<S>(out_grad + bag * in.width + k)));
        }
        store(grad, weight_grad + i);
    }
};

/// The same where an id has the largest elements of some columns: rounded after each, as the host does.
template <class T, class I>
struct WeightGradOfLargest {
    using S = sum_t<T>;
    DeviceBags<T, I> in;
    std::int64_t const* positions;
    T const* out_grad;
    T* weight_grad;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const bag = in.bag_of(i);
        T grad = weight_grad[i];
        for (std::size_t k = 0; k < in.width; ++k) {
            std::size_t const at = bag * in.width + k;
            if (positions[at] != static_cast<std::int64_t>(i)) continue;
            store(plus(load<S>(&grad), product(load<S>(in.row(i) + k), load<S>(out_grad + at))), &grad);
        }
        weight_grad[i] = grad;
    }
};

template <class System>
struct BagLookups<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T, class I>
    static LoDTensor<T, Device> lookup(Device const& exec, Tensor<T, Device> const& table,
                                       LoDTensor<I, Device> const& ids, Tensor<T, Device> const* weight, Pooling pool) {
        using S = sum_t<T>;
        check_tensors(exec, table, ids.value(), weight);
        OnDevice<std::int64_t, Device> const offsets(exec, last_level(ids.lod()));
        auto const bags = make(table, ids, weight, offsets.data(), pool);
        auto shape = table.shape();
        shape[0] = bags.bags;
        auto out = Tensor<T, Device>::zeros(exec, shape);
        DeviceStorage<S, System> const divisors(exec, bags.bags);
        launch(exec, bags.bags, BagDivisor<T, I>{bags, divisors.data()});
        auto const sums = sequence_sums(last_level(ids.lod()));
        if (pool == Pooling::max) {
            T const zero = dtype<T>::narrow(S{});
            sums.template run_chunks<1>(exec, bags.width, BagElements<T, I>{bags},
                                        StoreExtreme<T>{out.data(), bags.width, zero});
        } else {
            bool const chunks = in_chunks(bags.width, table.data(), static_cast<T const*>(out.data()));
            sums.run(exec, bags.width, BagRows<T, I>{bags}, StoreBag<T>{divisors.data(), out.data(), bags.width},
                     chunks);
        }
        return {std::move(out), upper_levels(ids.lod())};
    }

    template <class T, class I>
    static SelectedRows<T, Device> grad(Device const& exec, Tensor<T, Device> const& table,
                                        LoDTensor<I, Device> const& ids, Tensor<T, Device> const* weight,
                                        Tensor<T, Device> const& out_grad, Pooling pool, Tensor<T, Device>* weight_grad) {
        using S = sum_t<T>;
        std::span<std::int64_t const> const level = last_level(ids.lod());
        check_height("out_grad", out_grad, static_cast<std::int64_t>(level.size() - 1));
        check_trailing("out_grad", out_grad, table.shape());
        check_here(exec, out_grad);
        check_tensors(exec, table, ids.value(), weight);
        OnDevice<std::int64_t, Device> const offsets(exec, level);
        auto const bags = make(table, ids, weight, offsets.data(), pool);
        std::size_t const n = ids.value().size(), width = bags.width;
        auto shape = table.shape();
        shape[0] = n;
        auto value = Tensor<T, Device>::zeros(exec, shape);
        if (width != 0 && pool == Pooling::max) {
            DeviceStorage<std::int64_t, System> const positions(exec, bags.bags * width);
            sequence_sums(level).template run_chunks<1>(
                exec, width, BagElements<T, I>{bags},
                GiveToLargest<T, I>{bags, out_grad.data(), value.data(), positions.data()});
            if (weight_grad != nullptr)
                launch(exec, n,
                       WeightGradOfLargest<T, I>{bags, positions.data(), out_grad.data(), weight_grad->data()});
        } else if (width != 0) {
            DeviceStorage<S, System> const divisors(exec, bags.bags);
            FastDivmod const columns(width);
            launch(exec, bags.bags, BagDivisor<T, I>{bags, divisors.data()});
            launch(exec, n * width, ShareOfBag<T, I>{bags, divisors.data(), out_grad.data(), value.data(), columns});
            if (weight_grad != nullptr) {
                DeviceStorage<S, System> const totals(exec, bags.bags * width);
                launch(exec, bags.bags * width, SumOfBag<T, I>{bags, totals.data(), columns});
                launch(exec, n,
                       WeightGrad<T, I>{bags, divisors.data(), totals.data(), out_grad.data(), weight_grad->data()});
            }
        }
        auto rows = Tensor<std::int64_t, Device>::from_shape(exec, {n});
        IdCheck const check = id_check(exec, "ids", height_of(table));
        launch_always(exec, n, CopyId<I>{check, ids.value().data(), rows.data()});
        return SelectedRowsAccess::adopt(height_of(table), std::move(rows), std::move(value), false);
    }

private:
    template <class T, class I>
    static void check_tensors(Device const& exec, Tensor<T, Device> const& table, Tensor<I, Device> const& ids,
                              Tensor<T, Device> const* weight) {
        check_here(exec, table, ids);
        if (weight != nullptr) check_here(exec, *weight);
        ElementLoops<Device>::check_ids(exec, "ids", ids, height_of(table));
    }

    template <class T, class I>
    static DeviceBags<T, I> make(Tensor<T, Device> const& table, LoDTensor<I, Device> const& ids,
                                 Tensor<T, Device> const* weight, std::int64_t const* offsets, Pooling pool) {
        return {table.data(),
                table.shape()[0],
                table.row_size(),
                ids.value().data(),
                weight == nullptr ? nullptr : weight->data(),
                offsets,
                last_level(ids.lod()).size() - 1,
                pool};
    }
};

}  // namespace rowan::inline v0::detail
