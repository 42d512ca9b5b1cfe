// rowan/op/detail/bags.hpp: pooling of bags of ids to rows of a table, and its gradient.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/sequence_pool.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// Checks the arguments of a lookup on any device, except whether the ids are in range.
template <class T, class I, class D>
void check_bags(D const& exec, Tensor<T, D> const& table, LoDTensor<I, D> const& ids, Tensor<T, D> const* weight,
                Pooling pool) {
    static_assert(!std::integral<sum_t<T>>, "rowan::embedding_bag: the table must have a floating-point type");
    if (pool != Pooling::sum && pool != Pooling::mean && pool != Pooling::sqrt && pool != Pooling::max)
        throw ValueError("pool", static_cast<double>(pool), "one of sum, mean, sqrt, max");
    check_sequences(exec, "ids", ids);
    if (ids.value().dimension() != 1) throw ShapeError("ids rank", std::to_string(ids.value().dimension()), "1");
    check_rows("table", table);
    if (weight != nullptr && weight->shape() != ids.value().shape())
        throw ShapeError("weight.shape()", shape_text(weight->shape()), shape_text(ids.value().shape()));
}

/// Looks up bags on a device. The Thrust specialization is in rowan/thrust/op/embedding_bag.hpp.
template <class D>
struct BagLookups;

/// The bags of a lookup: their ids as int64, and their offsets.
template <class T>
class Bags {
public:
    using S = sum_t<T>;

    template <class I>
    Bags(Tensor<T> const& table, LoDTensor<I> const& ids, T const* weight, Pooling pool)
        : table_(table.data()), width_(table.row_size()), weight_(weight), pool_(pool), offsets_(last_level(ids.lod())),
          ids_(ids.value().data(), ids.value().data() + ids.value().size()) {}

    std::size_t bags() const { return offsets_.size() - 1; }
    std::size_t ids() const { return ids_.size(); }
    std::span<std::int64_t const> offsets() const { return offsets_; }
    std::size_t begin(std::size_t bag) const { return static_cast<std::size_t>(offsets_[bag]); }
    std::size_t length(std::size_t bag) const { return length_at(offsets_, bag); }
    T const* row(std::size_t i) const { return table_ + static_cast<std::size_t>(ids_[i]) * width_; }
    S weight(std::size_t i) const { return weight_ == nullptr ? constant<S>(1.0) : dtype<T>::widen(weight_[i]); }
    std::int64_t const* ids_at(std::size_t i) const { return ids_.data() + i; }
    T const* table() const { return table_; }
    bool weighted() const { return weight_ != nullptr; }

    /// The divisor of the weighted sum of a bag; 0 means that the result of the bag is 0.
    S divisor(std::size_t bag) const {
        std::size_t const n = length(bag);
        if (pool_ != Pooling::mean && pool_ != Pooling::sqrt) return constant<S>(1.0);
        if (!weighted())
            return constant<S>(pool_ == Pooling::mean ? static_cast<double>(n) : std::sqrt(static_cast<double>(n)));
        S sum = constant<S>(0.0);
        for (std::size_t i = begin(bag); i < begin(bag) + n; ++i)
            sum = plus(sum, pool_ == Pooling::mean ? weight(i) : product(weight(i), weight(i)));
        return pool_ == Pooling::mean ? sum : square_root(sum);
    }

    /// Writes for each column the largest element of the weighted rows of a bag, and its position in the bag. Ties go
    /// to the first.
    void largest(std::size_t bag, Buffer<S>& best, Buffer<std::size_t>& position) const {
        std::size_t const first = begin(bag);
        for (std::size_t i = 0; i < length(bag); ++i) {
            S const w = weight(first + i);
            for (std::size_t k = 0; k < width_; ++k) {
                S const x = product(w, S(dtype<T>::widen(row(first + i)[k])));
                if (i != 0 && !more_extreme<true>{}(x, best[k])) continue;
                best[k] = x;
                position[k] = i;
            }
        }
    }

private:
    T const* table_;
    std::size_t width_;
    T const* weight_;
    Pooling pool_;
    std::span<std::int64_t const> offsets_;
    Buffer<std::int64_t> ids_;
};

template <>
struct BagLookups<Cpu> {
    template <class T, class I>
    static LoDTensor<T> lookup(Cpu exec, Tensor<T> const& table, LoDTensor<I> const& ids, Tensor<T> const* weight,
                               Pooling pool) {
        using S = sum_t<T>;
        check_ids(exec, "ids", ids.value(), height_of(table));
        Bags<T> const bags(table, ids, weight == nullptr ? nullptr : weight->data(), pool);
        std::size_t const width = table.row_size();
        auto shape = table.shape();
        shape[0] = bags.bags();
        auto out = Tensor<T>::zeros(shape);
        for_sequences(exec, bags.offsets(), width, [&](std::size_t bag, std::size_t end) {
            std::size_t const longest = longest_of(bags.offsets(), bag, end);
            BlockSum<T, S> sum(bags.table(), width, longest);
            ScratchRows<S> scratch(bags.weighted() && pool != Pooling::max ? longest : 0, width);
            Buffer<S> best(width);
            Buffer<std::size_t> position(width);
            for (; bag < end; ++bag) {
                std::size_t const n = bags.length(bag), first = bags.begin(bag);
                T* const to = out.data() + bag * width;
                S const divisor = bags.divisor(bag);
                if (n == 0 || divisor == constant<S>(0.0)) continue;
                if (pool == Pooling::max) {
                    bags.largest(bag, best, position);
                    copy_lanes<S>(width, static_cast<S const*>(best.data()), to);
                    continue;
                }
                S const* total = nullptr;
                if (bags.weighted()) {
                    for (std::size_t i = 0; i < n; ++i) {
                        auto const times = [w = bags.weight(first + i)](auto const& x) {
                            return product(x, std::remove_cvref_t<decltype(x)>(w));
                        };
                        map_lanes<S>(times, width, bags.row(first + i), scratch.row(i));
                    }
                    total = scratch.sum(n);
                } else {
                    total = sum(bags.ids_at(first), n, bags.ids() - first - n);
                }
                map_lanes<S>([&](auto const& x) { return x / std::remove_cvref_t<decltype(x)>(divisor); }, width, total,
                             to);
            }
        });
        return {std::move(out), upper_levels(ids.lod())};
    }

    /// Returns one row of gradient for each id; also writes the gradients of the weights unless weight_grad is null.
    template <class T, class I>
    static SelectedRows<T> grad(Cpu exec, Tensor<T> const& table, LoDTensor<I> const& ids, Tensor<T> const* weight,
                                Tensor<T> const& out_grad, Pooling pool, Tensor<T>* weight_grad) {
        using S = sum_t<T>;
        check_ids(exec, "ids", ids.value(), height_of(table));
        Bags<T> const bags(table, ids, weight == nullptr ? nullptr : weight->data(), pool);
        check_height("out_grad", out_grad, static_cast<std::int64_t>(bags.bags()));
        check_trailing("out_grad", out_grad, table.shape());
        std::size_t const width = table.row_size();
        auto shape = table.shape();
        shape[0] = bags.ids();
        auto value = Tensor<T>::zeros(shape);
        for_sequences(exec, bags.offsets(), width, [&](std::size_t bag, std::size_t end) {
            Buffer<S> best(width), total(width);
            Buffer<std::size_t> position(width);
            for (; bag < end; ++bag) {
                std::size_t const n = bags.length(bag), first = bags.begin(bag);
                T const* const g = out_grad.data() + bag * width;
                S const divisor = bags.divisor(bag);
                if (n == 0 || divisor == constant<S>(0.0)) continue;
                if (pool == Pooling::max) {
                    bags.largest(bag, best, position);
                    for (std::size_t k = 0; k < width; ++k) {
                        std::size_t const i = first + position[k];
                        S const grad = dtype<T>::widen(g[k]);
                        value.data()[i * width + k] = dtype<T>::narrow(product(bags.weight(i), grad));
                        if (weight_grad == nullptr) continue;
                        T& w = weight_grad->data()[i];
                        w = dtype<T>::narrow(
                            plus(S(dtype<T>::widen(w)), product(S(dtype<T>::widen(bags.row(i)[k])), grad)));
                    }
                    continue;
                }
                for (std::size_t i = first; i < first + n; ++i) {
                    S const share = bags.weight(i) / divisor;
                    map_lanes<S>([&](auto const& x) { return product(x, std::remove_cvref_t<decltype(x)>(share)); },
                                 width, g, value.data() + i * width);
                }
                if (weight_grad == nullptr) continue;
                // The derivative of (Σ w x) / d with respect to w_i: (x_i - out · d') / d with d' = 0 for sum, 1 for
                // mean and w_i / d for sqrt.
                std::fill(total.begin(), total.end(), constant<S>(0.0));
                for (std::size_t i = first; i < first + n; ++i) {
                    for (std::size_t k = 0; k < width; ++k)
                        total[k] = plus(total[k], product(bags.weight(i), S(dtype<T>::widen(bags.row(i)[k]))));
                }
                for (std::size_t i = first; i < first + n; ++i) {
                    S grad = constant<S>(0.0);
                    S const slope = pool == Pooling::mean   ? constant<S>(1.0)
                                    : pool == Pooling::sqrt ? bags.weight(i) / divisor
                                                            : constant<S>(0.0);
                    for (std::size_t k = 0; k < width; ++k) {
                        S const x = dtype<T>::widen(bags.row(i)[k]);
                        S const change = (x - product(total[k] / divisor, slope)) / divisor;
                        grad = plus(grad, product(change, S(dtype<T>::widen(g[k]))));
                    }
                    weight_grad->data()[i] = dtype<T>::narrow(grad);
                }
            }
        });
        Buffer<std::int64_t> rows(bags.ids_at(0), bags.ids_at(0) + bags.ids());
        return SelectedRowsAccess::make(height_of(table), rows, std::move(value));
    }
};

}  // namespace rowan::inline v0::detail
