// rowan/detail/matmul.hpp: products of matrices, through a BLAS for float and double.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/lanes.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#if !__has_include(<xflens/cxxblas/cxxblas.cxx>)
#error "rowan's operators need xtensor-blas and a BLAS (Debian: libxtensor-blas-dev, libopenblas-serial-dev)"
#endif
#include <xtensor-blas/xblas_config.hpp>

#include <xflens/cxxblas/cxxblas.cxx>

namespace rowan::inline v0::detail {

/// A matrix as it lies in memory, row by row, and whether its transpose is meant.
template <class T>
struct Factor {
    T const* data;
    std::size_t columns;  // as it lies
    bool transposed = false;
};

/// out [m, n] = a [m, k] · b [k, n], or += where `add`. Threads share blocks of rows whose size does not depend on their number, each
/// one call of the BLAS: the same bits for any number of threads with a BLAS that is serial, or is within OpenMP's teams.
template <class S>
requires has_batch<S>
void multiply(Cpu exec, std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out, bool add) {
    constexpr std::size_t most = std::numeric_limits<xt::blas_index_t>::max();
    for (std::size_t const dim : {n, k, a.columns}) {
        if (dim > most)
            throw ShapeError("matrix dim", std::to_string(dim), "at most " + std::to_string(most) + " for this BLAS");
    }
    constexpr std::size_t block_products = std::size_t{1} << 21;
    std::size_t const grain =
        std::clamp<std::size_t>(block_products / std::max<std::size_t>(n * k, 1), 1, most / 16) * 16;
    auto const index = [](std::size_t x) { return static_cast<xt::blas_index_t>(x); };
    parallel_for(exec, n == 0 ? 0 : m, grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; i += grain) {
            cxxblas::gemm(cxxblas::RowMajor, a.transposed ? cxxblas::Trans : cxxblas::NoTrans,
                          b.transposed ? cxxblas::Trans : cxxblas::NoTrans, index(std::min(grain, last - i)), index(n),
                          index(k), S{1}, a.data + (a.transposed ? i : i * a.columns),
                          index(std::max<std::size_t>(a.columns, 1)), b.data,
                          index(std::max<std::size_t>(b.columns, 1)), add ? S{1} : S{0}, out + i * n, index(n));
        }
    });
}

/// The same for other types, sums being formed in dtype<T>::sum: through that of S where it is float or double, else by three loops.
template <class T>
void multiply(Cpu exec, std::size_t m, std::size_t n, std::size_t k, Factor<T> a, Factor<T> b, T* out, bool add) {
    using S = sum_t<T>;
    std::vector<S> wide_a(m * k), wide_b(k * n), wide_out(m * n);
    copy_lanes<S>(m * k, a.data, wide_a.data());
    copy_lanes<S>(k * n, b.data, wide_b.data());
    if (add) copy_lanes<S>(m * n, static_cast<T const*>(out), wide_out.data());
    if constexpr (has_batch<S>) {
        multiply(exec, m, n, k, Factor<S>{wide_a.data(), a.columns, a.transposed},
                 Factor<S>{wide_b.data(), b.columns, b.transposed}, wide_out.data(), add);
    } else {
        auto const element = [](Factor<T> const& f, std::vector<S> const& wide, std::size_t i, std::size_t j) {
            return f.transposed ? wide[j * f.columns + i] : wide[i * f.columns + j];
        };
        std::size_t const grain = std::max<std::size_t>((std::size_t{1} << 16) / std::max<std::size_t>(n * k, 1), 1);
        parallel_for(exec, m, grain, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    S sum = add ? wide_out[i * n + j] : constant<S>(0.0);
                    for (std::size_t l = 0; l < k; ++l)
                        sum = plus(sum, product(element(a, wide_a, i, l), element(b, wide_b, l, j)));
                    wide_out[i * n + j] = sum;
                }
            }
        });
    }
    copy_lanes<S>(m * n, static_cast<S const*>(wide_out.data()), out);
}

}  // namespace rowan::inline v0::detail
