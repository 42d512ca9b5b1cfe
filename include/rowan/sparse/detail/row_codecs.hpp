// rowan/sparse/detail/row_codecs.hpp: the elements of a row of each RowFormat, as floats in registers or one at a time.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/detail/bit_cast.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/detail/lanes.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rowan::inline v0::detail {

/// The object at an address of any alignment.
template <class V>
ROWAN_INLINE V unaligned(void const* p) {
    V x;
    std::memcpy(&x, p, sizeof x);
    return x;
}

/// A float of 8 or 16 bits with `mantissa` bits of fraction. From `first_special` on, magnitudes are infinity and NaN
/// if there is an infinity, else NaN.
template <int bits, int mantissa_bits, int exponent_bias, int special, bool has_infinity, int largest>
struct SmallFloat {
    static constexpr int mantissa = mantissa_bits, bias = exponent_bias, first_special = special,
                         largest_code = largest;
    static constexpr int shift = 23 - mantissa;
    static constexpr std::int32_t magnitudes = (1 << (bits - 1)) - 1;
    static constexpr std::int32_t exponent(int e) { return e << 23; }

    /// The numbers with these codes, in lanes or one.
    template <class V, class I>
    ROWAN_INLINE static V decode(I const& code) {
        I const size = code & I(magnitudes);
        I const sign = (code & I(magnitudes + 1)) << (32 - bits);
        I const normal = (size << shift) + I(exponent(127 - bias));
        V const one_more = detail::bit_cast<V>(I((size << shift) + I(exponent(128 - bias))));
        I const subnormal = detail::bit_cast<I>(V(one_more - V(bit_cast_one(exponent(128 - bias)))));
        I const not_finite =
            has_infinity ? I((size << shift) + I(exponent(256 - (1 << (bits - 1 - mantissa))))) : I(0x7FC00000);
        I const finite = choose(size < I(1 << mantissa), subnormal, normal);
        I const all = choose(size < I(first_special), finite, not_finite);
        return detail::bit_cast<V>(I(all ^ sign));
    }

    /// Of 8 bits: the code of the nearest number, ties to even; numbers above the largest finite one become that.
    static std::uint8_t encode(float x) {
        auto const from = detail::bit_cast<std::uint32_t>(x);
        std::uint32_t const size = from & 0x7FFFFFFFU;
        float const magnitude = detail::bit_cast<float>(size);
        constexpr auto least_normal = static_cast<std::uint32_t>(exponent(128 - bias));
        std::uint32_t code = 0;
        if (size < least_normal) {  // in the sum, only the bits that fit remain
            constexpr auto unit = static_cast<std::uint32_t>(exponent(128 - bias + shift));
            code = detail::bit_cast<std::uint32_t>(magnitude + detail::bit_cast<float>(unit)) - unit;
        } else {
            std::uint32_t const even = size >> shift & 1U;
            code = (size + (1U << (shift - 1)) - 1 + even - static_cast<std::uint32_t>(exponent(127 - bias))) >> shift;
            if (code > largest_code) code = largest_code;
        }
        return static_cast<std::uint8_t>(code | (from >> 24 & 0x80U));
    }

private:
    static float bit_cast_one(std::int32_t of) { return detail::bit_cast<float>(of); }
};
using E4m3 = SmallFloat<8, 3, 7, 0x7F, false, 0x7E>;
using E5m2 = SmallFloat<8, 2, 15, 0x7C, true, 0x7B>;
using Half = SmallFloat<16, 10, 15, 0x7C00, true, 0x7BFF>;

// A codec has the address of a row, and what all its elements have in common. load<V> returns the elements from
// `column` on, which is a multiple of their number: registers of floats, or a float. from(c) is the rest of the row from
// column c on, whose columns count from 0.

/// RowFormat::float32, float16 and bfloat16.
template <class From>
struct ElementRow {
    std::byte const* row;

    ElementRow(std::byte const* p, std::size_t) : row(p) {}
    template <class V>
    ROWAN_INLINE V load(std::size_t column) const {
        if constexpr (std::is_same_v<From, float16> && is_register<V>) {
            using I = typename V::template of<std::int32_t>;
            return Half::template decode<V>(I::of_halves(row + column * sizeof(From)));
        }
        From x[lanes_in<V>];
        std::memcpy(x, row + column * sizeof(From), sizeof x);
        return detail::load<V>(x);
    }
};

/// RowFormat::int8 and int8_half: numbers of a byte, then scale and bias.
template <class Scale>
struct Int8Row {
    std::uint8_t const* codes;
    float scale, bias;

    Int8Row(std::byte const* p, std::size_t width)
        : codes(reinterpret_cast<std::uint8_t const*>(p)), scale(unaligned<Scale>(p + width)),
          bias(unaligned<Scale>(p + width + sizeof(Scale))) {}
    ROWAN_INLINE Int8Row from(std::size_t column) const {
        Int8Row rest = *this;
        rest.codes += column;
        return rest;
    }
    template <class V>
    ROWAN_INLINE V load(std::size_t column) const {
        return plus(product(detail::load<V>(codes + column), V(scale)), V(bias));
    }
};

/// RowFormat::int4: numbers of half a byte, then scale and bias.
struct Int4Row {
    std::uint8_t const* codes;
    float scale, bias;
    std::size_t odd = 0;  // 1: begin at the second number of the first byte, one at a time

    Int4Row(std::byte const* p, std::size_t width)
        : codes(reinterpret_cast<std::uint8_t const*>(p)), scale(unaligned<float16>(p + (width + 1) / 2)),
          bias(unaligned<float16>(p + (width + 1) / 2 + sizeof(float16))) {}
    ROWAN_INLINE Int4Row from(std::size_t column) const {
        Int4Row rest = *this;
        rest.codes += column / 2;
        rest.odd = column % 2;
        return rest;
    }
    template <class V>
    ROWAN_INLINE V load(std::size_t column) const {
        V x;
        if constexpr (is_register<V>) {
            x = V::of_nibbles(codes + column / 2);
        } else {
            column += odd;
            x = static_cast<float>(codes[column / 2] >> (column % 2 * 4) & 15);
        }
        return plus(product(x, V(scale)), V(bias));
    }
};

/// The numbers at p, in lanes or one.
template <class Float, class V>
ROWAN_INLINE V load_float8(std::uint8_t const* p) {
    if constexpr (is_register<V>) {
        using I = typename V::template of<std::int32_t>;
        return Float::template decode<V>(I::of_bytes(p));
    } else {
        return Float::template decode<float>(std::int32_t{*p});
    }
}

/// RowFormat::float8_e4m3 and float8_e5m2: floats of 8 bits, then a scale.
template <class Float>
struct Float8Row {
    std::uint8_t const* codes;
    float scale;

    Float8Row(std::byte const* p, std::size_t width)
        : codes(reinterpret_cast<std::uint8_t const*>(p)), scale(unaligned<float>(p + width)) {}
    template <class V>
    ROWAN_INLINE V load(std::size_t column) const {
        return product(load_float8<Float, V>(codes + column), V(scale));
    }
};

/// 2^(e - 127); NaN for 255.
ROWAN_INLINE float power_of_two(std::uint8_t e) {
    std::uint32_t const bits = e == 0 ? 0x00400000U : e == 255 ? 0x7FC00000U : std::uint32_t{e} << 23;
    return detail::bit_cast<float>(bits);
}

inline constexpr std::size_t row_block = 32;  // elements with a scale of their own

/// RowFormat::mxfp8_e4m3 and mxfp8_e5m2: floats of 8 bits, then a power of two for each block.
template <class Float>
struct Mxfp8Row {
    std::uint8_t const *codes, *scales;

    Mxfp8Row(std::byte const* p, std::size_t width)
        : codes(reinterpret_cast<std::uint8_t const*>(p)), scales(codes + width) {}
    /// Whether the elements of a block are numbers of bfloat16: so if they are normal.
    bool has_bfloat16(std::size_t column) const {
        std::uint8_t const e = scales[column / row_block];
        return e >= 32 && e != 255;
    }
    template <class V>
    ROWAN_INLINE V load(std::size_t column) const {
        return product(load_float8<Float, V>(codes + column), V(power_of_two(scales[column / row_block])));
    }
};

/// RowFormat::q8_0: blocks of a scale and signed numbers of a byte.
struct Q8Row {
    static constexpr std::size_t block_bytes = sizeof(float16) + row_block;
    std::byte const* row;

    Q8Row(std::byte const* p, std::size_t) : row(p) {}
    template <class V>
    ROWAN_INLINE V load(std::size_t column) const {
        std::byte const* const block = row + column / row_block * block_bytes;
        auto const* const codes = reinterpret_cast<std::int8_t const*>(block + sizeof(float16)) + column % row_block;
        V x;
        if constexpr (is_register<V>) {
            x = V::of_signed_bytes(codes);
        } else {
            x = static_cast<float>(*codes);
        }
        return product(x, V(static_cast<float>(unaligned<float16>(block))));
    }
};

}  // namespace rowan::inline v0::detail
