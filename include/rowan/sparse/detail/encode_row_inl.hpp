// rowan/sparse/detail/encode_row_inl.hpp: definitions of rowan/sparse/detail/encode_row.hpp.
#pragma once

#include <rowan/sparse/detail/encode_row.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/sparse/detail/row_codecs.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

namespace rowan::inline v0::detail {

template <class V>
void put(V x, std::byte* to) {
    std::memcpy(to, &x, sizeof x);
}

template <class T>
bool encode_elements(std::span<float const> row, std::byte* to) {
    for (std::size_t i = 0; i < row.size(); ++i) put(T(row[i]), to + i * sizeof(T));
    return true;
}

inline bool finite(float x) { return x - x == 0; }

/// The least and the greatest number of a row; zeros if it has none.
ROWAN_IF_CALLED std::pair<float, float> extremes_of(std::span<float const> row) {
    if (row.empty()) return {0.0F, 0.0F};
    return {*std::min_element(row.begin(), row.end()), *std::max_element(row.begin(), row.end())};
}

/// The numbers nearest to (x - bias) * inverse, ties to even, in [0, most].
inline std::uint8_t code_of(float x, float bias, float inverse, float most) {
    return static_cast<std::uint8_t>(std::clamp(std::nearbyint(rounded((x - bias) * inverse)), 0.0F, most));
}

ROWAN_IF_CALLED bool encode_int8(std::span<float const> row, std::byte* to) {
    auto const [least, greatest] = extremes_of(row);
    float const range = greatest - least, scale = range / 255.0F, inverse = 255.0F / (range + 1e-8F);
    if (!finite(range)) return false;
    for (std::size_t i = 0; i < row.size(); ++i) put(code_of(row[i], least, inverse, 255.0F), to + i);
    put(scale, to + row.size());
    put(least, to + row.size() + sizeof scale);
    return true;
}

/// Codes of `bits` bits, with halves as scale and bias.
ROWAN_IF_CALLED bool encode_bits(int bits, std::span<float const> row, std::byte* to) {
    auto const [min, max] = extremes_of(row);
    auto const most = static_cast<float>((1 << bits) - 1);
    float16 const bias(min);
    float const least = bias, range = max - least;
    float16 half_scale(range == 0 ? 1.0F : range / most);
    float scale = half_scale, inverse = 1.0F / scale;
    if (scale == 0 || !finite(inverse)) {
        half_scale = float16(1.0F);
        inverse = 1.0F;
    }
    if (!finite(least) || !finite(half_scale)) return false;
    std::size_t const bytes = bits == 8 ? row.size() : (row.size() + 1) / 2;
    std::fill_n(to, bytes, std::byte{});
    for (std::size_t i = 0; i < row.size(); ++i) {
        auto const code = std::byte{code_of(row[i], least, inverse, most)};
        if (bits == 8)
            to[i] = code;
        else
            to[i / 2] |= code << static_cast<int>(i % 2 * 4);
    }
    put(half_scale, to + bytes);
    put(bias, to + bytes + sizeof bias);
    return true;
}

ROWAN_IF_CALLED float greatest_of(std::span<float const> row) {
    float most = 0;
    for (float const x : row) most = std::max(most, std::abs(x));
    return most;
}

template <class Float>
bool encode_float8(std::span<float const> row, std::byte* to) {
    float const greatest = Float::template decode<float>(std::int32_t{Float::largest_code}), most = greatest_of(row);
    float const scale = most == 0 ? 1.0F : std::max(most / greatest, std::numeric_limits<float>::denorm_min());
    for (std::size_t i = 0; i < row.size(); ++i) to[i] = std::byte{Float::encode(row[i] / scale)};
    put(scale, to + row.size());
    return true;
}

template <class Float>
bool encode_mx(std::span<float const> row, std::byte* to) {
    int const most_exponent = std::ilogb(Float::template decode<float>(std::int32_t{Float::largest_code}));
    for (std::size_t b = 0; b < row.size(); b += row_block) {
        auto const some = row.subspan(b, std::min(row_block, row.size() - b));
        float const most = greatest_of(some);
        int const power = most == 0 ? 0 : std::clamp(std::ilogb(most) - most_exponent + 127, 0, 254);
        auto const e = static_cast<std::uint8_t>(power);
        for (std::size_t i = 0; i < some.size(); ++i) to[b + i] = std::byte{Float::encode(some[i] / power_of_two(e))};
        to[row.size() + b / row_block] = std::byte{e};
    }
    return true;
}

ROWAN_IF_CALLED bool encode_q8(std::span<float const> row, std::byte* to) {
    for (std::size_t b = 0; b < row.size(); b += row_block, to += Q8Row::block_bytes) {
        auto const some = row.subspan(b, row_block);
        float const scale = greatest_of(some) / 127.0F, inverse = finite(1.0F / scale) ? 1.0F / scale : 0.0F;
        float16 const half(scale);
        if (!finite(half)) return false;
        put(half, to);
        for (std::size_t i = 0; i < row_block; ++i)
            put(static_cast<std::int8_t>(std::round(rounded(some[i] * inverse))), to + sizeof half + i);
    }
    return true;
}

ROWAN_CALLED_FUNCTION bool encode_row(RowFormat format, std::span<float const> row, std::byte* to) {
    switch (format) {
        case RowFormat::float32:
            return encode_elements<float>(row, to);
        case RowFormat::float16:
            return encode_elements<float16>(row, to);
        case RowFormat::bfloat16:
            return encode_elements<bfloat16>(row, to);
        default:
            break;
    }
    if (!std::all_of(row.begin(), row.end(), finite)) return false;
    switch (format) {
        case RowFormat::int8:
            return encode_int8(row, to);
        case RowFormat::int8_half:
            return encode_bits(8, row, to);
        case RowFormat::int4:
            return encode_bits(4, row, to);
        case RowFormat::float8_e4m3:
            return encode_float8<E4m3>(row, to);
        case RowFormat::float8_e5m2:
            return encode_float8<E5m2>(row, to);
        case RowFormat::mxfp8_e4m3:
            return encode_mx<E4m3>(row, to);
        case RowFormat::mxfp8_e5m2:
            return encode_mx<E5m2>(row, to);
        default:
            return encode_q8(row, to);
    }
}

}  // namespace rowan::inline v0::detail

#endif
