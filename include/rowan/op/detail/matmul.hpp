// rowan/op/detail/matmul.hpp: multithreaded matrix products of any element type.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/process_mutex.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/detail/gemm.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>

#ifdef ROWAN_BLAS
#if !__has_include(<xtensor-blas/xblas_config.hpp>)
#error "rowan: ROWAN_BLAS needs xtensor-blas (Debian: libxtensor-blas-dev)"
#endif
#include <xtensor-blas/xblas_config.hpp>

#include <xflens/cxxblas/cxxblas.cxx>

#include <limits>
#include <mutex>
#endif

namespace rowan::inline v0::detail {

#ifdef ROWAN_BLAS
/// out [m, n] = a [m, k] · b [k, n], or += if `add`, by the program's BLAS. Calls are serialized, because not every
/// BLAS is thread-safe.
template <class S>
void multiply_by_blas(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out, bool add) {
    constexpr std::size_t most = std::numeric_limits<xt::blas_index_t>::max();
    for (std::size_t const dim : {m, n, k, a.columns, b.columns}) {
        if (dim > most) throw ShapeError("matrix dim", dim, {"at most ", most, " for this BLAS"});
    }
    if (m == 0 || n == 0) return;
    auto const index = [](std::size_t x) { return static_cast<xt::blas_index_t>(std::max<std::size_t>(x, 1)); };
    auto const meant = [](Factor<S> const& f) { return f.transposed ? cxxblas::Trans : cxxblas::NoTrans; };
    std::scoped_lock const lock(process_mutex<Factor<S>>());
    cxxblas::gemm(cxxblas::RowMajor, meant(a), meant(b), index(m), index(n), static_cast<xt::blas_index_t>(k), S{1},
                  a.data, index(a.columns), b.data, index(b.columns), add ? S{1} : S{0}, out, index(n));
}
#endif

/// out [m, n] = a [m, k] · b [k, n], or += if `add`. Threads divide the rows or columns of out, whichever are more.
template <class S>
requires is_machine_float<S>
void multiply(Cpu exec, std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out, bool add) {
#ifdef ROWAN_BLAS
    check_exec(exec);
    multiply_by_blas(m, n, k, a, b, out, add);
#else
    // serial: the number of multiplications below which one thread runs; as in threads_for, twice that unless the caller
    // asks for a number of threads. Ranges are as long as each other, but for whole tiles of 12 rows or 32 columns.
    constexpr std::size_t serial = std::size_t{1} << 21;
    bool const rows = m >= n;
    std::size_t const many = rows ? m : n, step = rows ? 12 : 32;
    bool const one = k == 0 || m * n < (exec.threads == 0 ? 2 : 1) * serial / std::max<std::size_t>(k, 1);
    std::size_t const tiles = (many - (many != 0)) / step + 1,
                      ranges = 2 * static_cast<std::size_t>(thread_count(exec));
    std::size_t const grain = one ? many : ((tiles - 1) / ranges + 1) * step;
    parallel_for(exec, many, grain, [&](std::size_t begin, std::size_t end) {
        if (rows) {
            Factor<S> const part{a.at(begin, 0), a.columns, a.transposed};
            multiply_serial(end - begin, n, k, part, b, out + begin * n, n, add);
        } else {
            Factor<S> const part{b.at(0, begin), b.columns, b.transposed};
            multiply_serial(m, end - begin, k, a, part, out + begin, n, add);
        }
    });
#endif
}

/// The same for other types, computed in S = dtype<T>::sum: by the function above if S is float or double, else by
/// three nested loops.
template <class T>
void multiply(Cpu exec, std::size_t m, std::size_t n, std::size_t k, Factor<T> a, Factor<T> b, T* out, bool add) {
    using S = sum_t<T>;
    auto const elements = [](Factor<T> const& f, std::size_t rows, std::size_t columns) {
        return rows * columns == 0 ? 0 : static_cast<std::size_t>(f.at(rows - 1, columns - 1) - f.data) + 1;
    };
    Buffer<S> wide_a(elements(a, m, k)), wide_b(elements(b, k, n)), wide_out(m * n);
    copy_lanes<S>(wide_a.size(), a.data, wide_a.data());
    copy_lanes<S>(wide_b.size(), b.data, wide_b.data());
    if (add) copy_lanes<S>(m * n, out, wide_out.data());
    if constexpr (is_machine_float<S>) {
        multiply(exec, m, n, k, Factor<S>{wide_a.data(), a.columns, a.transposed},
                 Factor<S>{wide_b.data(), b.columns, b.transposed}, wide_out.data(), add);
    } else {
        auto const element = [](Factor<T> const& f, Buffer<S> const& wide, std::size_t i, std::size_t j) {
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
    copy_lanes<S>(m * n, wide_out.data(), out);
}

/// Multiplies matrices on a device. The Thrust specialization is in rowan/thrust/op/matmul.hpp.
template <class D>
struct Products {
    static_assert(has_backend<D>, "rowan: products of matrices on a Thrust device need #include <rowan/thrust/op.hpp>");
};

template <>
struct Products<Cpu> {
    template <class T>
    static void multiply(Cpu exec, std::size_t m, std::size_t n, std::size_t k, Factor<T> a, Factor<T> b, T* out,
                         bool add) {
        detail::multiply<T>(exec, m, n, k, a, b, out, add);
    }
};

}  // namespace rowan::inline v0::detail
