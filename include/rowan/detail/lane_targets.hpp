// rowan/detail/lane_targets.hpp: on_lanes, which runs a loop over lanes with the widest registers of the processor.
#pragma once

#include <rowan/detail/lane_register.hpp>

#include <atomic>
#include <cstddef>
#include <type_traits>

/// The bytes of the widest registers for which loops are compiled, besides those of the compiler's flags. They are used
/// where the processor has them: 32 are those of AVX2, 64 those of AVX-512. The results have the same bits with any.
#ifndef ROWAN_MAX_REGISTER_BYTES
#define ROWAN_MAX_REGISTER_BYTES 64
#endif

namespace rowan::inline v0::detail {

/// Passes a type to a function.
template <class V>
struct as {};

// With __NO_INLINE__ nothing is inlined into the functions that are compiled for wider registers: they would be slow.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__NO_INLINE__) && !defined(__CUDA_ARCH__)
inline constexpr std::size_t widest_bytes =
    native_bytes < ROWAN_MAX_REGISTER_BYTES ? ROWAN_MAX_REGISTER_BYTES : native_bytes;
#else
inline constexpr std::size_t widest_bytes = native_bytes;
#endif

#ifdef __x86_64__
inline constinit std::atomic<std::size_t> known_register_bytes{0};

/// Asks the processor. The environment variable ROWAN_REGISTER_BYTES, 16 or 32, allows less.
std::size_t find_register_bytes();

/// The bytes of the registers of this processor.
ROWAN_INLINE std::size_t processor_bytes() {
    std::size_t const known = known_register_bytes.load(std::memory_order_relaxed);
    return known != 0 ? known : find_register_bytes();
}

// Neither fuses a product with an addition; clang does not across calls. With -O3, g++ 12 ends with an internal error where
// it makes vectors of comparisons of registers.
#ifdef __clang__
#define ROWAN_NOT_FUSED
#else
#define ROWAN_NOT_FUSED gnu::optimize("fp-contract=off", "no-tree-slp-vectorize")
#endif
template <class S, class F>
[[gnu::target("avx2,bmi,bmi2"), gnu::flatten, gnu::noinline, ROWAN_NOT_FUSED]] auto on_avx2(F const& f) {
    return f(as<LaneRegister<S, 32>>());
}
template <class S, class F>
[[gnu::target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2"), gnu::flatten, gnu::noinline,
  ROWAN_NOT_FUSED]] auto
on_avx512(F const& f) {
    return f(as<LaneRegister<S, 64>>());
}
#undef ROWAN_NOT_FUSED
#endif

/// Whether `S` has registers: it is float or double. Not in device code: nvcc rejects them there even if they are never
/// used.
template <class S>
#ifdef __CUDA_ARCH__
inline constexpr bool has_register = false;
#else
inline constexpr bool has_register = std::is_same_v<S, float> || std::is_same_v<S, double>;
#endif

/// The register of numbers S that is as wide as the register V; S if there is none.
template <class V, class S>
struct lanes_like {
    using type = S;
};
template <class Other, std::size_t bytes, class S>
requires has_register<S>
struct lanes_like<LaneRegister<Other, bytes>, S> {
    using type = LaneRegister<S, bytes>;
};

/// Returns f(as<V>()), where V is the widest register of numbers S that the compiler's flags allow, or a wider one of
/// the processor if n elements are worth a call: then f is compiled for it, with all that it calls. V is S if that has
/// no registers.
template <class S, class F>
ROWAN_INLINE auto on_lanes([[maybe_unused]] std::size_t n, F const& f) {
    if constexpr (!has_register<S>) return f(as<S>());
#ifdef __x86_64__
    if constexpr (has_register<S> && widest_bytes > native_bytes) {
        if (n * sizeof(S) >= 64) {
            std::size_t const bytes = processor_bytes();
            if constexpr (widest_bytes >= 64) {
                if (bytes == 64) return on_avx512<S>(f);
            }
            if constexpr (native_bytes < 32) {
                if (bytes >= 32) return on_avx2<S>(f);
            }
        }
    }
#endif
    if constexpr (has_register<S>) return f(as<LaneRegister<S, native_bytes>>());
}

}  // namespace rowan::inline v0::detail

#include <rowan/detail/lane_targets_inl.hpp>
