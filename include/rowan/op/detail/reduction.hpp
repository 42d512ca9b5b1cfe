// rowan/op/detail/reduction.hpp: Reduction of the losses of a batch, and sums independent of the thread count.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/checked.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/interleaved.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rescaled.hpp>
#include <rowan/op/loss/declared.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>

namespace rowan::inline v0 {

namespace detail {

/// The number of elements that one thread sums, in 16 interleaved partial sums. The block sums are then added in the
/// same way.
inline constexpr std::size_t sum_block = 4096;

/// The sum of block(begin, end) over blocks of [0, n), and the sums of the blocks.
template <class S, class Block>
S blocked_sum(Cpu exec, std::size_t n, Block const& block, Buffer<S>& sums) {
    sums.resize((n + sum_block - 1) / sum_block);
    parallel_work(exec, n, sums.size(), 4, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) sums[k] = block(k * sum_block, std::min(n, (k + 1) * sum_block));
    });
    return interleaved_sum<S>(sums.size(), sums.data());
}
template <class S, class Block>
S blocked_sum(Cpu exec, std::size_t n, Block const& block) {
    Buffer<S> sums;
    return blocked_sum<S>(exec, n, block, sums);
}

/// total / n; 0 if n is 0
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD S mean_of(S const& total, double n) {
    return n == 0 ? constant<S>(0.0) : quotient(total, constant<S>(n));
}
ROWAN_NO_EXEC_CHECK
template <class S>
ROWAN_HD S mean_of(S const& total, std::size_t n) {
    return mean_of(total, static_cast<double>(n));
}

/// The sum of small_sum(k) of all blocks k.
template <class S, class SmallSum>
struct SumOfBlocks {
    std::size_t blocks;
    SmallSum const& small_sum;

    ROWAN_KERNEL S operator()() const {
        S sum = constant<S>(0.0);
        for (std::size_t k = 0; k < blocks; ++k) sum = plus(sum, small_sum(k));
        return sum;
    }
};

/// mean_of a total of blocks; small_sum(k) is the sum of block k times mean_factor.
ROWAN_NO_EXEC_CHECK
template <class S, class SmallSum>
ROWAN_HD S mean_of_blocks(S const& total, double n, std::size_t blocks, SmallSum const& small_sum) {
    if (n == 0) return constant<S>(0.0);
    return mean_of_sum(total, n, SumOfBlocks<S, SmallSum>{blocks, small_sum});
}

/// The sum of block k of n terms times mean_factor, from that without it.
ROWAN_NO_EXEC_CHECK
template <class S, class Term>
ROWAN_HD S small_sum_of(S const& sum, std::size_t k, [[maybe_unused]] std::size_t n,
                        [[maybe_unused]] Term const& term) {
    if constexpr (is_machine_float<S>) {
        if (is_finite(sum)) return product(sum, S(mean_factor<S>));
        std::size_t const begin = k * sum_block, end = n - begin < sum_block ? n : begin + sum_block;
        double all = 0;
        for (std::size_t i = begin; i < end; ++i) all += static_cast<double>(term.small(i));
        return static_cast<S>(all);
    } else {
        return sum;
    }
}

/// A number, and the same times mean_factor.
template <class S>
struct LossTerm {
    S const* losses;
    ROWAN_HD S operator()(std::size_t i) const { return losses[i]; }
    ROWAN_HD S small(std::size_t i) const { return product(losses[i], constant<S>(mean_factor<double>)); }
};

/// p, q -> (p - q)²
struct squared_difference {
    ROWAN_FORMULA V operator()(V const& p, V const& q) const { return product(V(p - q), V(p - q)); }
};

/// (a[i] - b[i])², and the same times mean_factor.
template <class T>
struct SquaredDifferenceTerm {
    using S = sum_t<T>;
    T const *a, *b;
    ROWAN_HD S operator()(std::size_t i) const { return squared_difference{}(load<S>(a + i), load<S>(b + i)); }
    ROWAN_HD S small(std::size_t i) const {
        return squared{}(product(S(load<S>(a + i) - load<S>(b + i)), constant<S>(mean_factor_root<double>)));
    }
};

/// Reduces whole tensors on a device. The Thrust specialization is in rowan/thrust/op/detail/reduction.hpp.
template <class D>
struct Totals {
    static_assert(has_backend<D>, "rowan: a loss on a Thrust device needs #include <rowan/thrust/op.hpp>");
};

template <>
struct Totals<Cpu> {
    /// The sum of n numbers, or the mean, which divides by *kept if it is given.
    template <class T>
    static void of_losses(Cpu exec, std::size_t n, sum_t<T> const* losses, bool mean, T* out,
                          double const* kept = nullptr) {
        using S = sum_t<T>;
        double const count = kept == nullptr || !mean ? static_cast<double>(n) : *kept;
        store_total(exec, n, mean, count, LossTerm<S>{losses}, out, [&](std::size_t begin, std::size_t end) {
            return interleaved_sum<S>(end - begin, losses + begin);
        });
    }

    /// The sum of the squared differences of n elements, or their mean.
    template <class T>
    static void of_squares(Cpu exec, std::size_t n, T const* a, T const* b, bool mean, T* out) {
        using S = sum_t<T>;
        store_total(exec, n, mean, static_cast<double>(n), SquaredDifferenceTerm<T>{a, b}, out,
                    [&](std::size_t begin, std::size_t end) {
                        std::array<S, sum_block> squares;
                        zip_lanes<S>(squared_difference{}, end - begin, squares.data(), a + begin, b + begin);
                        return interleaved_sum<S>(end - begin, squares.data());
                    });
    }

private:
    template <class T, class Term, class Block>
    static void store_total(Cpu exec, std::size_t n, bool mean, double count, Term const& term, T* out,
                            Block const& block) {
        using S = sum_t<T>;
        Buffer<S> sums;
        S total = blocked_sum<S>(exec, n, block, sums);
        if (mean) {
            total = mean_of_blocks(total, count, sums.size(),
                                   [&](std::size_t k) { return small_sum_of(S(sums[k]), k, n, term); });
        }
        *out = dtype<T>::narrow(total);
    }
};

/// Reduces the losses of the rows. The mean divides by the number of rows, or by *kept.
template <class T, class D, class Losses>
Tensor<T, D> reduce(D const& exec, Reduction reduction, Losses const& losses, double const* kept = nullptr) {
    using S = sum_t<T>;
    std::size_t const n = losses.size();
    S const* const from = losses.data();
    if (reduction == Reduction::none) {
        auto out = new_tensor<T>(exec, {n});
        ElementLoops<D>::template zip<S>(exec, n, same_number{}, out.data(), from);
        return out;
    }
    auto out = new_tensor<T>(exec, {1});
    Totals<D>::of_losses(exec, n, from, reduction == Reduction::mean, out.data(), kept);
    return out;
}

/// Checks that the gradient has the shape of the reduced losses: [n], or [1].
template <class T, class D>
void check_reduced(char const* field, Tensor<T, D> const& out_grad, Reduction reduction, std::size_t n) {
    std::size_t const size = reduction == Reduction::none ? n : 1;
    if (out_grad.dimension() == 1 && out_grad.size() == size) return;
    throw ShapeError({field, ".shape()"}, shape_text(out_grad.shape()), {"[", size, "]"});
}

/// Returns the gradient of the loss of each row. `kept`, if given, has the weight of each row, 0 for those that do not
/// count, and behind these their sum.
template <class T>
struct LossGrads {
    T const* out_grad;
    Reduction reduction;
    std::size_t n;
    double const* kept = nullptr;

    ROWAN_HD bool ignores(std::size_t row) const { return kept != nullptr && kept[row] == 0; }

    ROWAN_KERNEL sum_t<T> operator()(std::size_t row) const {
        using S = sum_t<T>;
        S g = load<S>(out_grad + (reduction == Reduction::none ? row : 0));
        if (kept != nullptr) {
            if (ignores(row)) return constant<S>(0.0);
            g = product(constant<S>(kept[row]), g);
        }
        return reduction == Reduction::mean ? mean_of(g, kept == nullptr ? static_cast<double>(n) : kept[n]) : g;
    }
};

/// The dims of the reduced losses of n rows.
constexpr Dims reduced_dims(Reduction reduction, std::int64_t n) {
    if (reduction == Reduction::none) return {n};
    return {1};
}

}  // namespace detail

}  // namespace rowan::inline v0
