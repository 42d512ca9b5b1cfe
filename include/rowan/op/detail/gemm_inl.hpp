// rowan/op/detail/gemm_inl.hpp: definitions of rowan/op/detail/gemm.hpp.
#pragma once

#include <rowan/op/detail/gemm.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/op/detail/product_tiles.hpp>

#include <type_traits>

namespace rowan::inline v0::detail {

template <class S>
void multiply_serial(std::size_t m, std::size_t n, std::size_t k, Factor<S> a, Factor<S> b, S* out,
                     std::size_t next_out, bool add) {
#ifdef ROWAN_X86_TILES
    constexpr bool single = sizeof(S) == sizeof(float);
    if (__builtin_cpu_supports("avx512f"))
        return multiply_tiles<std::conditional_t<single, Avx512Float, Avx512Double>, 12>(m, n, k, a, b, out, next_out,
                                                                                         add);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return multiply_tiles<std::conditional_t<single, Avx2Float, Avx2Double>, 6>(m, n, k, a, b, out, next_out, add);
#endif
    multiply_tiles<PlainTile<S>, 4>(m, n, k, a, b, out, next_out, add);
}

}  // namespace rowan::inline v0::detail

#endif

namespace rowan::inline v0::detail {

ROWAN_TEMPLATE(void multiply_serial(std::size_t, std::size_t, std::size_t, Factor<float>, Factor<float>, float*,
                                    std::size_t, bool))
ROWAN_TEMPLATE(void multiply_serial(std::size_t, std::size_t, std::size_t, Factor<double>, Factor<double>, double*,
                                    std::size_t, bool))

}  // namespace rowan::inline v0::detail
