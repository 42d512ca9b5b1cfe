// rowan/detail/lane_register.hpp: LaneRegister, several floats or doubles that are computed together.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// A constraint for asm: a register for floats.
#if defined(__GNUC__) && defined(__AVX512F__)
#define ROWAN_FLOAT_REGISTER "+v"
#elif defined(__GNUC__) && defined(__x86_64__)
#define ROWAN_FLOAT_REGISTER "+x"
#elif defined(__GNUC__) && defined(__aarch64__)
#define ROWAN_FLOAT_REGISTER "+w"
#endif

namespace rowan::inline v0::detail {

/// The bytes of the registers that the compiler's flags allow.
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
inline constexpr std::size_t native_bytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t native_bytes = 32;
#else
inline constexpr std::size_t native_bytes = 16;
#endif

/// The truth values of a comparison of LaneRegister<S, bytes>: all bits of a lane are set, or none.
template <class S, std::size_t bytes>
struct LaneMask {
    using number = std::conditional_t<sizeof(S) == 4, std::int32_t, std::int64_t>;
    typedef number vector __attribute__((vector_size(bytes)));
    vector data;

    ROWAN_INLINE LaneMask(vector const& x) : data(x) {}
    ROWAN_INLINE LaneMask(LaneMask const& other) : data(other.data) {}
    ROWAN_INLINE LaneMask& operator=(LaneMask const& other) {
        data = other.data;
        return *this;
    }

    ROWAN_INLINE friend LaneMask operator&(LaneMask const& a, LaneMask const& b) { return a.data & b.data; }
    ROWAN_INLINE friend LaneMask operator|(LaneMask const& a, LaneMask const& b) { return a.data | b.data; }
    ROWAN_INLINE friend LaneMask operator&&(LaneMask const& a, LaneMask const& b) { return a.data & b.data; }
    ROWAN_INLINE friend LaneMask operator||(LaneMask const& a, LaneMask const& b) { return a.data | b.data; }
    ROWAN_INLINE friend LaneMask operator!(LaneMask const& a) { return ~a.data; }
};

/// `bytes` / sizeof(S) numbers, for which the arithmetic and the comparisons of numbers work lane by lane. It has the
/// size of a register of the processor for which the function that uses it is compiled, see lane_targets.hpp. As the
/// copies are not trivial, calls pass it in memory: they mean the same in code for any processor.
template <class S, std::size_t bytes>
struct LaneRegister {
    using value_type = S;
    template <class Other>
    using of = LaneRegister<Other, bytes>;
    using mask = LaneMask<S, bytes>;
    typedef S vector __attribute__((vector_size(bytes)));
    static constexpr std::size_t size = bytes / sizeof(S);
    vector data;

    ROWAN_INLINE LaneRegister() {}
    ROWAN_INLINE LaneRegister(S x) {
#ifndef __clang__
        if constexpr (bytes > native_bytes) {  // g++ would insert number by number
            vector first{};
            first[0] = x;
            data = __builtin_shuffle(first, typename mask::vector{});
            return;
        }
#endif
        data = x - vector{};  // x - 0 is x
    }
    ROWAN_INLINE LaneRegister(vector const& x) : data(x) {}
    ROWAN_INLINE LaneRegister(LaneRegister const& other) : data(other.data) {}
    ROWAN_INLINE LaneRegister& operator=(LaneRegister const& other) {
        data = other.data;
        return *this;
    }

    ROWAN_INLINE static LaneRegister load(S const* p) { return vector(*reinterpret_cast<unaligned const*>(p)); }
    ROWAN_INLINE void store(S* p) const { *reinterpret_cast<unaligned*>(p) = data; }
    /// The same where S is double and p points to floats.
    ROWAN_INLINE static LaneRegister of_floats(float const* p) {
        return __builtin_convertvector(*reinterpret_cast<floats const*>(p), vector);
    }
    /// The same where S is float and p points to the upper halves of floats.
    ROWAN_INLINE static LaneRegister of_upper_halves(void const* p) {
        typedef std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t> wide
            __attribute__((vector_size(bytes)));
        return (vector)(__builtin_convertvector(*static_cast<halves const*>(p), wide) << 16);
    }
    ROWAN_INLINE void store_floats(float* p) const {
        *reinterpret_cast<floats*>(p) = __builtin_convertvector(data, floats);
    }

    ROWAN_INLINE friend LaneRegister operator+(LaneRegister const& a, LaneRegister const& b) { return a.data + b.data; }
    ROWAN_INLINE friend LaneRegister operator-(LaneRegister const& a, LaneRegister const& b) { return a.data - b.data; }
    ROWAN_INLINE friend LaneRegister operator*(LaneRegister const& a, LaneRegister const& b) { return a.data * b.data; }
    ROWAN_INLINE friend LaneRegister operator/(LaneRegister const& a, LaneRegister const& b) { return a.data / b.data; }
    ROWAN_INLINE friend LaneRegister operator-(LaneRegister const& a) { return -a.data; }
    ROWAN_INLINE LaneRegister& operator+=(LaneRegister const& b) { return *this = *this + b; }
    ROWAN_INLINE LaneRegister& operator-=(LaneRegister const& b) { return *this = *this - b; }
    ROWAN_INLINE LaneRegister& operator*=(LaneRegister const& b) { return *this = *this * b; }
    ROWAN_INLINE LaneRegister& operator/=(LaneRegister const& b) { return *this = *this / b; }

    /// Itself, but the compiler does not fuse the product that it is with an addition. Where registers are wider than
    /// its flags allow, it does not anyway, see lane_targets.hpp.
    ROWAN_INLINE LaneRegister rounded() const {
        LaneRegister x = *this;
#ifdef ROWAN_FLOAT_REGISTER
        if constexpr (bytes <= native_bytes) asm("" : ROWAN_FLOAT_REGISTER(x.data));
#endif
        return x;
    }

    // of integers
    ROWAN_INLINE friend LaneRegister operator&(LaneRegister const& a, LaneRegister const& b) { return a.data & b.data; }
    ROWAN_INLINE friend LaneRegister operator<<(LaneRegister const& a, int n) { return a.data << n; }
    ROWAN_INLINE friend LaneRegister operator>>(LaneRegister const& a, int n) { return a.data >> n; }

    ROWAN_INLINE friend mask operator<(LaneRegister const& a, LaneRegister const& b) { return a.data < b.data; }
    ROWAN_INLINE friend mask operator>(LaneRegister const& a, LaneRegister const& b) { return a.data > b.data; }
    ROWAN_INLINE friend mask operator<=(LaneRegister const& a, LaneRegister const& b) { return a.data <= b.data; }
    ROWAN_INLINE friend mask operator>=(LaneRegister const& a, LaneRegister const& b) { return a.data >= b.data; }
    ROWAN_INLINE friend mask operator==(LaneRegister const& a, LaneRegister const& b) { return a.data == b.data; }
    ROWAN_INLINE friend mask operator!=(LaneRegister const& a, LaneRegister const& b) { return a.data != b.data; }

private:
    typedef std::uint16_t halves __attribute__((vector_size(size * 2), aligned(2), may_alias));
    typedef S unaligned __attribute__((vector_size(bytes), aligned(sizeof(S))));
    typedef float floats __attribute__((vector_size(bytes * sizeof(float) / sizeof(S)), aligned(sizeof(float))));
};

/// Whether `V` is a LaneRegister.
template <class V>
inline constexpr bool is_register = false;
template <class S, std::size_t bytes>
inline constexpr bool is_register<LaneRegister<S, bytes>> = true;

/// The type of the numbers in V, a LaneRegister or a number.
template <class V>
struct lane_of {
    using type = V;
};
template <class S, std::size_t bytes>
struct lane_of<LaneRegister<S, bytes>> {
    using type = S;
};

/// yes where the mask is true, else no
template <class S, std::size_t bytes>
ROWAN_INLINE LaneRegister<S, bytes> select(LaneMask<S, bytes> const& mask, LaneRegister<S, bytes> const& yes,
                                           LaneRegister<S, bytes> const& no) {
    return mask.data ? yes.data : no.data;
}

/// Whether a lane is true.
template <class S, std::size_t bytes>
ROWAN_INLINE bool any(LaneMask<S, bytes> const& mask) {
    std::uint64_t parts[bytes / 8], all = 0;
    std::memcpy(parts, &mask.data, bytes);
    for (std::uint64_t const part : parts) all |= part;
    return all != 0;
}

/// The bits of x as lanes of another type.
template <class To, class S, std::size_t bytes>
ROWAN_INLINE To bit_cast(LaneRegister<S, bytes> const& x) {
    return To((typename To::vector)x.data);
}

#if defined(__x86_64__) && !__has_builtin(__builtin_elementwise_sqrt)
// √x of whole registers: not by std::sqrt of the lanes, which sets errno. The second argument of the last two, 4, is the
// rounding mode of the thread.
ROWAN_INLINE void sqrt_of(LaneRegister<float, 16>& x) { x.data = __builtin_ia32_sqrtps(x.data); }
ROWAN_INLINE void sqrt_of(LaneRegister<double, 16>& x) { x.data = __builtin_ia32_sqrtpd(x.data); }
[[gnu::target("avx")]] inline void sqrt_of(LaneRegister<float, 32>& x) { x.data = __builtin_ia32_sqrtps256(x.data); }
[[gnu::target("avx")]] inline void sqrt_of(LaneRegister<double, 32>& x) { x.data = __builtin_ia32_sqrtpd256(x.data); }
#ifdef __clang__
[[gnu::target("avx512f")]] inline void sqrt_of(LaneRegister<float, 64>& x) {
    x.data = __builtin_ia32_sqrtps512(x.data, 4);
}
[[gnu::target("avx512f")]] inline void sqrt_of(LaneRegister<double, 64>& x) {
    x.data = __builtin_ia32_sqrtpd512(x.data, 4);
}
#else
[[gnu::target("avx512f")]] inline void sqrt_of(LaneRegister<float, 64>& x) {
    x.data = __builtin_ia32_sqrtps512_mask(x.data, x.data, -1, 4);
}
[[gnu::target("avx512f")]] inline void sqrt_of(LaneRegister<double, 64>& x) {
    x.data = __builtin_ia32_sqrtpd512_mask(x.data, x.data, -1, 4);
}
#endif
#endif

/// √x
template <class S, std::size_t bytes>
ROWAN_INLINE LaneRegister<S, bytes> sqrt(LaneRegister<S, bytes> const& x) {
#if __has_builtin(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(x.data);
#elif defined(__x86_64__)
    LaneRegister<S, bytes> y = x;
    sqrt_of(y);
    return y;
#else
    S lanes[LaneRegister<S, bytes>::size];
    x.store(lanes);
    for (S& lane : lanes) lane = std::sqrt(lane);
    return LaneRegister<S, bytes>::load(lanes);
#endif
}

}  // namespace rowan::inline v0::detail
