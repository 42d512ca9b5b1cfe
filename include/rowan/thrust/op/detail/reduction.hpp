// rowan/thrust/op/detail/reduction.hpp: sums and means of whole tensors on a device.
#pragma once

#include <rowan/op/detail/reduction.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/op/detail/interleaved_sums.hpp>

#include <cstddef>

namespace rowan::inline v0::detail {

/// (a[i] - b[i])²
template <class T>
struct SquaredDifferenceAt {
    T const *a, *b;
    ROWAN_HD sum_t<T> operator()(std::size_t i) const {
        return squared_difference{}(load<sum_t<T>>(a + i), load<sum_t<T>>(b + i));
    }
};

/// Stores the total of n numbers, or their mean.
template <class T>
struct StoreReduced {
    T* out;
    std::size_t n;
    bool mean;
    double const* kept;

    ROWAN_HD void operator()(std::size_t, sum_t<T> const& total) const {
        store(mean ? mean_of(total, kept == nullptr ? static_cast<double>(n) : *kept) : total, out);
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
        total(exec, n, NumberAt<sum_t<T>>{losses}, StoreReduced<T>{out, n, mean, kept});
    }

    template <class T>
    static void of_squares(Device const& exec, std::size_t n, T const* a, T const* b, bool mean, T* out) {
        total(exec, n, SquaredDifferenceAt<T>{a, b}, StoreReduced<T>{out, n, mean, nullptr});
    }

private:
    // Sums blocks of sum_block terms, then the sums of the blocks: two passes for any n.
    template <class Term, class T>
    static void total(Device const& exec, std::size_t n, Term const& term, StoreReduced<T> const& done) {
        using S = sum_t<T>;
        if (n == 0) return launch(exec, 1, StoreNoTotal<T>{done});
        std::size_t const blocks = (n + sum_block - 1) / sum_block;
        DeviceStorage<S, System> const sums(exec, blocks);
        sum_runs<S>(exec, n, sum_block, term, KeepNumber<S>{sums.data()});
        sum_runs<S>(exec, blocks, blocks, NumberAt<S>{sums.data()}, done);
    }
};

}  // namespace rowan::inline v0::detail
