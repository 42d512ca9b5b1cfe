// rowan/detail/lane_register.hpp: LaneRegister, several floats or doubles that are computed together.
#pragma once

#include <rowan/core/detail/config.hpp>

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

/// The base of the truth values of comparisons. They are not computed: `select` compares again where it needs them,
/// since g++ 12 does well with comparisons in selections alone, in code for other registers than its flags say.
struct LaneMask {};

template <class M>
concept lane_mask = std::is_base_of_v<LaneMask, M>;

enum class LaneTest { less, greater, not_above, not_below, equal, not_equal };

/// The truth values of a comparison of two registers.
template <LaneTest test, class V>
struct LaneComparison : LaneMask {
    using lanes = V;
    V a, b;

    ROWAN_INLINE LaneComparison(V const& a_, V const& b_) : a(a_), b(b_) {}
    ROWAN_INLINE V select(V const& yes, V const& no) const {
        V const result = chosen(yes, no);
#if defined(__GNUC__) && !defined(__clang__)
        // g++ 12 would join this selection with one of its result to a combination of masks, which it computes number
        // by number in registers that are wider than its flags allow. It does not if there is another use.
        if constexpr (sizeof(V) > native_bytes) asm("" : : "X"(result.data));
#endif
        return result;
    }

private:
    ROWAN_INLINE V chosen(V const& yes, V const& no) const {
        if constexpr (test == LaneTest::less) return a.data < b.data ? yes.data : no.data;
        if constexpr (test == LaneTest::greater) return a.data > b.data ? yes.data : no.data;
        if constexpr (test == LaneTest::not_above) return a.data <= b.data ? yes.data : no.data;
        if constexpr (test == LaneTest::not_below) return a.data >= b.data ? yes.data : no.data;
        if constexpr (test == LaneTest::equal) return a.data == b.data ? yes.data : no.data;
        if constexpr (test == LaneTest::not_equal) return a.data != b.data ? yes.data : no.data;
    }
};

/// A vector of numbers, of `bytes` bytes in all.
template <class N, std::size_t bytes>
struct small_vector {
    typedef N type __attribute__((vector_size(bytes)));
};

// Conversions for which g++ 12 does not find the instruction: numbers of a byte to int32, and int32 to their lower
// halves.
template <class Small, class Ints>
ROWAN_INLINE void widen_bytes(Small const& from, Ints& to) {
    // one by one unless each step doubles the size of the numbers
    auto const doubled = __builtin_convertvector(from, typename small_vector<std::uint16_t, sizeof(Small) * 2>::type);
    to = __builtin_convertvector(doubled, Ints);
}
template <class Ints, class Small>
ROWAN_INLINE void narrow_to_halves(Ints const& from, Small& to) {
    to = __builtin_convertvector(from, Small);
}
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target("avx512f")]] inline void widen_bytes(small_vector<std::uint8_t, 16>::type const& from,
                                                   small_vector<std::int32_t, 64>::type& to) {
    typedef char chars __attribute__((vector_size(16)));
    typedef int ints __attribute__((vector_size(64)));
    to = (small_vector<std::int32_t, 64>::type)__builtin_ia32_pmovzxbd512_mask((chars)from, ints{},
                                                                               (unsigned short)0xFFFF);
}
[[gnu::target("avx2")]] inline void widen_bytes(small_vector<std::uint8_t, 8>::type const& from,
                                                small_vector<std::int32_t, 32>::type& to) {
    typedef char chars __attribute__((vector_size(16)));
    typedef long long longs __attribute__((vector_size(16)));
    long long all;
    __builtin_memcpy(&all, &from, 8);
    to = (small_vector<std::int32_t, 32>::type)__builtin_ia32_pmovzxbd256((chars)longs{all, 0});
}
[[gnu::target("avx512f")]] inline void narrow_to_halves(small_vector<std::int32_t, 64>::type const& from,
                                                        small_vector<std::uint16_t, 32>::type& to) {
    typedef int ints __attribute__((vector_size(64)));
    typedef short shorts __attribute__((vector_size(32)));
    to = (small_vector<std::uint16_t, 32>::type)__builtin_ia32_pmovdw512_mask((ints)from, shorts{},
                                                                              (unsigned short)0xFFFF);
}
#endif

/// `bytes` / sizeof(S) numbers, for which the arithmetic and the comparisons of numbers work lane by lane. It has the
/// size of a register of the processor for which the function that uses it is compiled, see lane_targets.hpp. As the
/// copies are not trivial, calls pass it in memory: they mean the same in code for any processor.
template <class S, std::size_t bytes>
struct LaneRegister {
    using value_type = S;
    template <class Other>
    using of = LaneRegister<Other, bytes>;
    typedef S vector __attribute__((vector_size(bytes)));
    static constexpr std::size_t size = bytes / sizeof(S);
    vector data;

    ROWAN_INLINE LaneRegister() {}
    ROWAN_INLINE LaneRegister(S x) {
#ifndef __clang__
        if constexpr (bytes > native_bytes) {  // g++ 12 would insert number by number
            vector first{};
            first[0] = x;
            data = __builtin_shuffle(first, indices{});
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

    ROWAN_INLINE static LaneRegister load(S const* p) {
        LaneRegister x;
        x.data = *reinterpret_cast<unaligned const*>(p);
        return x;
    }
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
    /// The same where S is an integer and p points to numbers of two bytes.
    ROWAN_INLINE static LaneRegister of_halves(void const* p) {
        LaneRegister x;
        x.data = __builtin_convertvector(*static_cast<halves const*>(p), vector);
        return x;
    }
    /// Stores the lower halves of integers of four bytes.
    ROWAN_INLINE void store_lower_halves(void* p) const {
        typename small_vector<std::uint16_t, size * 2>::type lower;
        narrow_to_halves((typename small_vector<std::int32_t, bytes>::type)data, lower);
        std::memcpy(p, &lower, sizeof lower);
    }
    /// The same where p points to numbers of a byte.
    ROWAN_INLINE static LaneRegister of_bytes(std::uint8_t const* p) {
        small x;
        std::memcpy(&x, p, sizeof x);
        return of_small(x);
    }
    /// The same where p points to signed numbers of a byte.
    ROWAN_INLINE static LaneRegister of_signed_bytes(std::int8_t const* p) {
        LaneRegister x;
        // as numbers of 0 to 255, whose conversion is fast
        small signs;
        std::memcpy(&signs, p, sizeof signs);
        signs ^= (std::uint8_t)0x80;
        x.data = of_small(signs).data - (S)128;
        return x;
    }
    /// The same where p points to numbers of half a byte, of which the lower half of a byte comes first.
    ROWAN_INLINE static LaneRegister of_nibbles(std::uint8_t const* p) {
        typedef std::uint8_t list __attribute__((vector_size(16)));
        typedef std::uint64_t word __attribute__((vector_size(16)));
        constexpr std::uint64_t low = 0x0F0F0F0F0F0F0F0F;
        std::uint64_t both = 0;
        std::memcpy(&both, p, size / 2);
        list const codes = __builtin_shufflevector((list)word{both & low, 0}, (list)word{both >> 4 & low, 0}, 0, 16, 1,
                                                   17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        small x;
        std::memcpy(&x, &codes, sizeof x);
        return of_small(x);
    }
    ROWAN_INLINE void store_bytes(std::uint8_t* p) const {
        small const narrow = __builtin_convertvector(data, small);
        std::memcpy(p, &narrow, sizeof narrow);
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

    /// Itself, but the compiler does not fuse the product that it is with an addition.
    ROWAN_INLINE LaneRegister rounded() const {
        LaneRegister x = *this;
#ifdef ROWAN_FLOAT_REGISTER
        if constexpr (bytes <= native_bytes) {
            asm("" : ROWAN_FLOAT_REGISTER(x.data));
        } else {
#if defined(__FMA__) && !defined(__clang__)  // else the flags fuse nothing, nor do the functions of lane_targets.hpp
            asm("" : : "X"(x.data));         // a product with another use is not fused
#endif
        }
#else
        asm("" : "+m"(x.data));
#endif
        return x;
    }

    // of integers
    ROWAN_INLINE friend LaneRegister operator&(LaneRegister const& a, LaneRegister const& b) { return a.data & b.data; }
    ROWAN_INLINE friend LaneRegister operator|(LaneRegister const& a, LaneRegister const& b) { return a.data | b.data; }
    ROWAN_INLINE friend LaneRegister operator^(LaneRegister const& a, LaneRegister const& b) { return a.data ^ b.data; }
    ROWAN_INLINE friend LaneRegister operator<<(LaneRegister const& a, int n) { return a.data << n; }
    ROWAN_INLINE friend LaneRegister operator>>(LaneRegister const& a, int n) { return a.data >> n; }

    ROWAN_INLINE friend LaneComparison<LaneTest::less, LaneRegister> operator<(LaneRegister const& a,
                                                                               LaneRegister const& b) {
        return {a, b};
    }
    ROWAN_INLINE friend LaneComparison<LaneTest::greater, LaneRegister> operator>(LaneRegister const& a,
                                                                                  LaneRegister const& b) {
        return {a, b};
    }
    ROWAN_INLINE friend LaneComparison<LaneTest::not_above, LaneRegister> operator<=(LaneRegister const& a,
                                                                                     LaneRegister const& b) {
        return {a, b};
    }
    ROWAN_INLINE friend LaneComparison<LaneTest::not_below, LaneRegister> operator>=(LaneRegister const& a,
                                                                                     LaneRegister const& b) {
        return {a, b};
    }
    ROWAN_INLINE friend LaneComparison<LaneTest::equal, LaneRegister> operator==(LaneRegister const& a,
                                                                                 LaneRegister const& b) {
        return {a, b};
    }
    ROWAN_INLINE friend LaneComparison<LaneTest::not_equal, LaneRegister> operator!=(LaneRegister const& a,
                                                                                     LaneRegister const& b) {
        return {a, b};
    }

private:
    using index = std::conditional_t<sizeof(S) == 4, std::int32_t, std::int64_t>;
    typedef index indices __attribute__((vector_size(bytes)));
    typedef std::uint8_t small __attribute__((vector_size(size)));

    ROWAN_INLINE static LaneRegister of_small(small const& x) {
        if constexpr (sizeof(S) == 4) {
            typename small_vector<std::int32_t, bytes>::type whole;
            typename small_vector<std::uint8_t, size>::type const narrow = x;
            widen_bytes(narrow, whole);
            return __builtin_convertvector(whole, vector);
        } else {
            typedef std::conditional_t<sizeof(S) == 8, std::uint16_t, void> number;
            auto const doubled = __builtin_convertvector(x, typename small_vector<number, size * 2>::type);
            return __builtin_convertvector(__builtin_convertvector(doubled, indices), vector);
        }
    }

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

/// The number of lanes of V: 1 for a number.
template <class V>
inline constexpr std::size_t lanes_in = 1;
template <class S, std::size_t bytes>
inline constexpr std::size_t lanes_in<LaneRegister<S, bytes>> = LaneRegister<S, bytes>::size;

/// Where both masks are true, or one of them.
template <bool both, class A, class B>
struct LanePair : LaneMask {
    using lanes = typename A::lanes;
    A a;
    B b;

    ROWAN_INLINE LanePair(A const& a_, B const& b_) : a(a_), b(b_) {}
    ROWAN_FORMULA V select(V const& yes, V const& no) const {
        V const of_b = b.select(yes, no);
        return both ? a.select(of_b, no) : a.select(yes, of_b);
    }
};
template <class A>
struct LaneNot : LaneMask {
    using lanes = typename A::lanes;
    A a;

    ROWAN_INLINE explicit LaneNot(A const& a_) : a(a_) {}
    ROWAN_FORMULA V select(V const& yes, V const& no) const { return a.select(no, yes); }
};

template <lane_mask A, lane_mask B>
ROWAN_INLINE auto operator&(A const& a, B const& b) {
    return LanePair<true, A, B>(a, b);
}
template <lane_mask A, lane_mask B>
ROWAN_INLINE auto operator&&(A const& a, B const& b) {
    return LanePair<true, A, B>(a, b);
}
template <lane_mask A, lane_mask B>
ROWAN_INLINE auto operator|(A const& a, B const& b) {
    return LanePair<false, A, B>(a, b);
}
template <lane_mask A, lane_mask B>
ROWAN_INLINE auto operator||(A const& a, B const& b) {
    return LanePair<false, A, B>(a, b);
}
template <lane_mask A>
ROWAN_INLINE auto operator!(A const& a) {
    return LaneNot<A>(a);
}

/// The bits of x as lanes of another type.
template <class To, class S, std::size_t bytes>
ROWAN_INLINE To bit_cast(LaneRegister<S, bytes> const& x) {
    return To((typename To::vector)x.data);
}

}  // namespace rowan::inline v0::detail
