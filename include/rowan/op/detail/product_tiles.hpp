// rowan/op/detail/product_tiles.hpp: tiled matrix products for each instruction set.
#pragma once

#include <rowan/op/detail/factor.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
#define ROWAN_X86_TILES
#include <immintrin.h>
#endif

namespace rowan::inline v0::detail {

/// The operands of a tile: rows of a, and a panel of b with `width` contiguous elements of each of its k rows.
template <class S>
struct TileFactors {
    std::size_t k;
    S const* a;
    std::size_t next_row, next_column;  // strides of a
    S const* panel;
    std::size_t next_panel_row;  // stride of the panel
    bool add;                    // accumulate into out
};

// Each element of the product is ((c + a0·b0) + a1·b1) + …, where each step is a fused multiply-add and rounds once.
// The bits are the same for any instruction set with fused multiply-add, any block size and any number of threads.
// `out` has rows of two vectors, `next_out` elements apart.
#ifdef __clang__
#define ROWAN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ROWAN_UNROLL _Pragma("GCC unroll 12")
#endif
#define ROWAN_TILE(NAME, TARGET, S, LANES, VECTOR, LOAD, STORE, BROADCAST, FMA)                          \
    struct NAME {                                                                                        \
        static constexpr std::size_t width = 2 * LANES;                                                  \
        template <std::size_t rows>                                                                      \
        [[gnu::target(TARGET)]] static void run(TileFactors<S> const& f, S* out, std::size_t next_out) { \
            VECTOR sum[rows][2];                                                                         \
            ROWAN_UNROLL                                                                                 \
            for (std::size_t i = 0; i < rows; ++i) {                                                     \
                sum[i][0] = f.add ? LOAD(out + i * next_out) : BROADCAST(S{0});                          \
                sum[i][1] = f.add ? LOAD(out + i * next_out + LANES) : BROADCAST(S{0});                  \
            }                                                                                            \
            S const* b = f.panel;                                                                        \
            for (std::size_t l = 0; l < f.k; ++l, b += f.next_panel_row) {                               \
                VECTOR const b0 = LOAD(b), b1 = LOAD(b + LANES);                                         \
                ROWAN_UNROLL                                                                             \
                for (std::size_t i = 0; i < rows; ++i) {                                                 \
                    VECTOR const x = BROADCAST(f.a[i * f.next_row + l * f.next_column]);                 \
                    sum[i][0] = FMA(x, b0, sum[i][0]);                                                   \
                    sum[i][1] = FMA(x, b1, sum[i][1]);                                                   \
                }                                                                                        \
            }                                                                                            \
            ROWAN_UNROLL                                                                                 \
            for (std::size_t i = 0; i < rows; ++i) {                                                     \
                STORE(out + i * next_out, sum[i][0]);                                                    \
                STORE(out + i * next_out + LANES, sum[i][1]);                                            \
            }                                                                                            \
        }                                                                                                \
    }

#ifdef ROWAN_X86_TILES
#ifdef __NVCC__  // nvcc passes GCC's pragma on and warns about it
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif
ROWAN_TILE(Avx512Float, "avx512f", float, 16, __m512, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps,
           _mm512_fmadd_ps);
ROWAN_TILE(Avx512Double, "avx512f", double, 8, __m512d, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd,
           _mm512_fmadd_pd);
ROWAN_TILE(Avx2Float, "avx2,fma", float, 8, __m256, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps);
ROWAN_TILE(Avx2Double, "avx2,fma", double, 4, __m256d, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd,
           _mm256_fmadd_pd);
#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif
#endif
#undef ROWAN_TILE
#undef ROWAN_UNROLL

/// For other instruction sets; uses fused multiply-add if the compiler has a fast one.
template <class S>
struct PlainTile {
    static constexpr std::size_t width = 16;

    template <std::size_t rows>
    static void run(TileFactors<S> const& f, S* out, std::size_t next_out) {
        S sum[rows][width];
        for (std::size_t i = 0; i < rows; ++i) {
            f.add ? std::copy_n(out + i * next_out, width, sum[i]) : std::fill_n(sum[i], width, S{0});
        }
        for (std::size_t l = 0; l < f.k; ++l) {
            for (std::size_t i = 0; i < rows; ++i) {
                S const x = f.a[i * f.next_row + l * f.next_column];
                for (std::size_t j = 0; j < width; ++j)
                    sum[i][j] = fused(x, f.panel[l * f.next_panel_row + j], sum[i][j]);
            }
        }
        for (std::size_t i = 0; i < rows; ++i) std::copy_n(sum[i], width, out + i * next_out);
    }

    static S fused(S a, S b, S c) {
#if defined(FP_FAST_FMA) && defined(FP_FAST_FMAF)
        return std::fma(a, b, c);
#else
        return a * b + c;
#endif
    }
};

/// Copies `columns` elements of each of `steps` rows of b contiguously, padded with zeros to `width`.
template <std::size_t width, class S>
void fill_panel(S const* b, std::size_t next_row, std::size_t next_column, std::size_t steps, std::size_t columns,
                S* panel) {
    if (next_column == 1 && columns == width) {
        for (std::size_t l = 0; l < steps; ++l) std::memcpy(panel + l * width, b + l * next_row, width * sizeof(S));
        return;
    }
    if (columns < width) std::fill_n(panel, steps * width, S{0});
    if (next_column == 1) {
        for (std::size_t l = 0; l < steps; ++l) std::copy_n(b + l * next_row, columns, panel + l * width);
        return;
    }
    std::size_t l = 0;
#ifdef ROWAN_X86_TILES
    if constexpr (sizeof(S) == sizeof(float)) {
        for (; l + 4 <= steps; l += 4) {
            for (std::size_t j = 0; j + 4 <= columns; j += 4) {
                S const* const from = b + l * next_row + j * next_column;
                __m128 r0 = _mm_loadu_ps(from), r1 = _mm_loadu_ps(from + next_column),
                       r2 = _mm_loadu_ps(from + 2 * next_column), r3 = _mm_loadu_ps(from + 3 * next_column);
                _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
                S* const to = panel + l * width + j;
                _mm_storeu_ps(to, r0);
                _mm_storeu_ps(to + width, r1);
                _mm_storeu_ps(to + 2 * width, r2);
                _mm_storeu_ps(to + 3 * width, r3);
            }
            for (std::size_t j = columns / 4 * 4; j < columns; ++j) {
                for (std::size_t s = l; s < l + 4; ++s) panel[s * width + j] = b[s * next_row + j * next_column];
            }
        }
    }
#endif
    for (; l < steps; ++l) {
        for (std::size_t j = 0; j < columns; ++j) panel[l * width + j] = b[l * next_row + j * next_column];
    }
}

/// out [m, n] = a [m, k] · b [k, n], or += if `add`, on one thread. `most` is the number of rows of the largest tile.
template <class Tile, std::size_t most, class S>
void multiply_tiles(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out, std::size_t next_out,
                    bool add) {
    constexpr std::size_t width = Tile::width, depth = 256, block = 512;
    alignas(64) S panel[depth * width];
    alignas(64) S partial[most * width];
    if (k == 0 && !add) {
        for (std::size_t i = 0; i < m; ++i) std::fill_n(out + i * next_out, n, S{0});
    }
    for (std::size_t top = 0; top < m; top += block) {
        std::size_t const bottom = std::min(m, top + block);
        for (std::size_t j = 0; j < n; j += width) {
            std::size_t const columns = std::min(width, n - j);
            for (std::size_t l = 0; l < k; l += depth) {
                std::size_t const steps = std::min(depth, k - l);
                // A copy of b in cache order pays off only if several tiles read it.
                bool const in_place = bottom - top <= most && columns == width && b.next_column() == 1;
                if (!in_place) fill_panel<width>(b.at(l, j), b.next_row(), b.next_column(), steps, columns, panel);
                auto const tile = [&]<std::size_t rows>(std::size_t i) {
                    TileFactors<S> const factors{.k = steps,
                                                 .a = a.at(i, l),
                                                 .next_row = a.next_row(),
                                                 .next_column = a.next_column(),
                                                 .panel = in_place ? b.at(l, j) : panel,
                                                 .next_panel_row = in_place ? b.next_row() : width,
                                                 .add = add || l > 0};
                    S* const to = out + i * next_out + j;
                    if (columns == width) return Tile::template run<rows>(factors, to, next_out);
                    for (std::size_t r = 0; r < rows && factors.add; ++r) {
                        std::copy_n(to + r * next_out, columns, partial + r * width);
                        std::fill_n(partial + r * width + columns, width - columns, S{0});
                    }
                    Tile::template run<rows>(factors, partial, width);
                    for (std::size_t r = 0; r < rows; ++r) std::copy_n(partial + r * width, columns, to + r * next_out);
                };
                std::size_t i = top;
                for (; i + most <= bottom; i += most) tile.template operator()<most>(i);
                if constexpr (most > 8)
                    for (; i + 8 <= bottom; i += 8) tile.template operator()<8>(i);
                for (; i + 4 <= bottom; i += 4) tile.template operator()<4>(i);
                for (; i + 2 <= bottom; i += 2) tile.template operator()<2>(i);
                for (; i < bottom; ++i) tile.template operator()<1>(i);
            }
        }
    }
}

}  // namespace rowan::inline v0::detail
