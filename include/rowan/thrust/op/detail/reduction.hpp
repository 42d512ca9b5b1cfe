// rowan/thrust/op/detail/reduction.hpp: sums and means of whole tensors on a device.
#pragma once

#include <rowan/op/detail/reduction.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/detail/interleaved_sums.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// Keeps the sum of block k of n terms, and the same times mean_factor.
template <class S, class Term>
struct KeepBlockSums {
    S *sums, *small;
    std::size_t n;
    Term term;
    ROWAN_HD void operator()(std::size_t k, S const& x) const {
        sums[k] = x;
        small[k] = small_sum_of(x, k, n, term);
    }
};

/// Stores the total of n numbers, or their mean.
template <class T>
struct StoreReduced {
    using S = sum_t<T>;
    T* out;
    std::size_t n;
    bool mean;
    double const* kept;
    S const* small = nullptr;  // the sums of blocks, times mean_factor

    ROWAN_HD void operator()(std::size_t, S const& total) const {
        if (!mean) return store(total, out);
        double const count = kept == nullptr ? static_cast<double>(n) : *kept;
        store(mean_of_blocks(total, count, (n + sum_block - 1) / sum_block, [this](std::size_t k) { return small[k]; }),
              out);
    }
};

/// Stores the total of no numbers.
template <class T>
struct StoreNoTotal {
    StoreReduced<T> store_total;
    ROWAN_HD void operator()(std::size_t) const { store_total(0, constant<sum_t<T>>(0.0)); }
};

template <class System>
struct Totals<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T>
    static void of_losses(Device const& exec, std::size_t n, sum_t<T> const* losses, bool mean, T* out,
                          double const* kept = nullptr) {
        total(exec, n, LossTerm<sum_t<T>>{losses}, StoreReduced<T>{out, n, mean, kept});
    }

    template <class T>
    static void of_squares(Device const& exec, std::size_t n, T const* a, T const* b, bool mean, T* out) {
        total(exec, n, SquaredDifferenceTerm<T>{a, b}, StoreReduced<T>{out, n, mean, nullptr});
    }

private:
    // Sums blocks of sum_block terms, then the sums of the blocks: two passes for any n.
    template <class Term, class T>
    static void total(Device const& exec, std::size_t n, Term const& term, StoreReduced<T> done) {
        using S = sum_t<T>;
        if (n == 0) return launch(exec, 1, StoreNoTotal<T>{done});
        std::size_t const blocks = (n + sum_block - 1) / sum_block;
        DeviceStorage<S, System> const sums(exec, 2 * blocks);
        done.small = sums.data() + blocks;
        sum_runs<S>(exec, n, sum_block, term, KeepBlockSums<S, Term>{sums.data(), sums.data() + blocks, n, term});
        sum_runs<S>(exec, blocks, blocks, NumberAt<S>{sums.data()}, done);
    }
};

}  // namespace rowan::inline v0::detail
