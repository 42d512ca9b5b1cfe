// rowan/detail/lane_register.hpp: LaneRegister, several floats or doubles that are computed together.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
#if defined(__SSE2__) && defined(__GNUC__) && !defined(__clang__)
        // g++ 12 inserts number by number into registers that are wider than its flags allow.
        if constexpr (bytes > native_bytes && std::is_floating_point_v<S>) {
            if (!__builtin_constant_p(x)) {
                if constexpr (sizeof(S) == 4) {
                    asm("vbroadcastss %1, %0" : "=v"(data) : "v"(x));
                } else {
                    asm("vbroadcastsd %1, %0" : "=v"(data) : "v"(x));
                }
                return;
            }
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
    ROWAN_INLINE void store_floats(float* p) const {
        *reinterpret_cast<floats*>(p) = __builtin_convertvector(data, floats);
    }

    ROWAN_INLINE friend LaneRegister operator+(LaneRegister const& a, LaneRegister const& b) { return a.data + b.data; }
    ROWAN_INLINE friend LaneRegister operator-(LaneRegister const& a, LaneRegister const& b) { return a.data - b.data; }
    ROWAN_INLINE friend LaneRegister operator*(LaneRegister const& a, LaneRegister const& b) {
        LaneRegister const c = a.data * b.data;
        if constexpr (bytes > native_bytes) return c.rounded();  // as in code for the compiler's flags
        return c;
    }
    ROWAN_INLINE friend LaneRegister operator/(LaneRegister const& a, LaneRegister const& b) { return a.data / b.data; }
    ROWAN_INLINE friend LaneRegister operator-(LaneRegister const& a) { return -a.data; }
    ROWAN_INLINE LaneRegister& operator+=(LaneRegister const& b) { return *this = *this + b; }
    ROWAN_INLINE LaneRegister& operator-=(LaneRegister const& b) { return *this = *this - b; }
    ROWAN_INLINE LaneRegister& operator*=(LaneRegister const& b) { return *this = *this * b; }
    ROWAN_INLINE LaneRegister& operator/=(LaneRegister const& b) { return *this = *this / b; }

    /// Itself, but the compiler does not fuse the product that it is with an addition. clang refuses registers that its
    /// flags do not allow; it fuses products of different expressions only if -ffp-contract=fast says so.
    ROWAN_INLINE LaneRegister rounded() const {
        LaneRegister x = *this;
#ifdef ROWAN_FLOAT_REGISTER
#ifdef __clang__
        constexpr bool takes = bytes <= native_bytes;
#else
        constexpr bool takes = true;
#endif
        if constexpr (takes && bytes == 64) {
            asm("" : "+v"(x.data));
        } else if constexpr (takes) {
            asm("" : ROWAN_FLOAT_REGISTER(x.data));
        }
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

/// √x. Not by std::sqrt of the lanes, which sets errno.
template <class S, std::size_t bytes>
ROWAN_INLINE LaneRegister<S, bytes> sqrt(LaneRegister<S, bytes> const& x) {
    LaneRegister<S, bytes> y;
#if defined(__SSE2__) && defined(__GNUC__) && !defined(__clang__)
    constexpr bool single = sizeof(S) == 4;
    if constexpr (bytes > 16) {  // an intrinsic would need a function that is compiled for it alone
        if constexpr (single) {
            asm("vsqrtps %1, %0" : "=v"(y.data) : "v"(x.data));
        } else {
            asm("vsqrtpd %1, %0" : "=v"(y.data) : "v"(x.data));
        }
        return y;
    }
#endif
#ifdef __SSE2__
    S lanes[LaneRegister<S, bytes>::size];
    std::memcpy(lanes, &x.data, bytes);
    for (std::size_t i = 0; i < LaneRegister<S, bytes>::size; i += 16 / sizeof(S)) {
        if constexpr (sizeof(S) == 4) {
            _mm_storeu_ps(lanes + i, _mm_sqrt_ps(_mm_loadu_ps(lanes + i)));
        } else {
            _mm_storeu_pd(lanes + i, _mm_sqrt_pd(_mm_loadu_pd(lanes + i)));
        }
    }
    std::memcpy(&y.data, lanes, bytes);
#else
    for (std::size_t i = 0; i < LaneRegister<S, bytes>::size; ++i)
        y.data[i] = sizeof(S) == 4 ? S(__builtin_sqrtf(float(x.data[i]))) : S(__builtin_sqrt(double(x.data[i])));
#endif
    return y;
}

}  // namespace rowan::inline v0::detail
