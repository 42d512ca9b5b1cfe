// rowan/sparse/detail/decode_rows.hpp: decode_rows, the elements of rows of a RowFormat; sum_bags, sums of such rows.
#pragma once

#include <rowan/detail/pool_bags.hpp>
#include <rowan/detail/rows.hpp>
#include <rowan/sparse/detail/row_codecs.hpp>
#include <rowan/sparse/row_format.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Rows to decode, and rows to prefetch meanwhile, by their addresses.
struct EncodedRows {
    RowFormat format;
    std::size_t width, bytes;  // of a row
    std::span<std::byte const*const> rows, next;
};

/// Whether a codec says which of its elements are numbers of bfloat16.
template <class Codec>
inline constexpr bool knows_bfloat16 = requires(Codec const& row) {
    row.has_bfloat16(std::size_t{});
};

template <class W, class Codec, class F>
ROWAN_INLINE void store_decoded([[maybe_unused]] Codec const& row, W const& x, [[maybe_unused]] std::size_t column,
                                F* to) {
    if constexpr (std::is_same_v<F, bfloat16> && is_register<W> && knows_bfloat16<Codec>) {
        using I = typename W::template of<std::uint32_t>;
        if (row.has_bfloat16(column)) return I(detail::bit_cast<I>(x) >> 16).store_lower_halves(to);
    }
    store(x, to);
}

template <class Codec, class F>
void decode_with(EncodedRows const& list, F* to) {
    on_lanes<float>(list.width, [&]<class V>(as<V>) ROWAN_INLINED {
        F* out = to;
        for (std::size_t i = 0; i < list.rows.size(); ++i, out += list.width) {
            if (i < list.next.size()) prefetch_row<false>(list.next[i], list.bytes);
            Codec const row(list.rows[i], list.width);
            each_with<V>(list.width, [&]<class W>(std::size_t column) ROWAN_INLINED {
                store_decoded(row, row.template load<W>(column), column, out + column);
            });
        }
    });
}

/// Writes the elements of the rows to consecutive rows of `memory`, as elements F: floats, or bfloat16. The format is
/// not RowFormat::elements. A template, so that only programs that call it compile it.
template <class F>
void decode_rows(EncodedRows const& rows, void* memory) {
    auto* const to = static_cast<F*>(memory);
    switch (rows.format) {
        case RowFormat::elements:
            break;
        case RowFormat::float32:
            return decode_with<ElementRow<float>>(rows, to);
        case RowFormat::float16:
            return decode_with<ElementRow<float16>>(rows, to);
        case RowFormat::bfloat16:
            return decode_with<ElementRow<bfloat16>>(rows, to);
        case RowFormat::int8:
            return decode_with<Int8Row<float>>(rows, to);
        case RowFormat::int8_half:
            return decode_with<Int8Row<float16>>(rows, to);
        case RowFormat::int4:
            return decode_with<Int4Row>(rows, to);
        case RowFormat::float8_e4m3:
            return decode_with<Float8Row<E4m3>>(rows, to);
        case RowFormat::float8_e5m2:
            return decode_with<Float8Row<E5m2>>(rows, to);
        case RowFormat::mxfp8_e4m3:
            return decode_with<Mxfp8Row<E4m3>>(rows, to);
        case RowFormat::mxfp8_e5m2:
            return decode_with<Mxfp8Row<E5m2>>(rows, to);
        case RowFormat::q8_0:
            return decode_with<Q8Row>(rows, to);
    }
}

/// Bags of rows of few bits. Bag b has the rows at positions[offsets[b]] to positions[offsets[b + 1]] of those that
/// consecutively begin at `rows`.
struct EncodedBags {
    RowFormat format;
    std::size_t width, bytes;  // of a row
    std::byte const* rows;
    std::int64_t const* positions;
    std::span<std::int64_t const> offsets;
    float const* weights;   // of the positions; nullptr: all 1
    float const* divisors;  // of the bags; nullptr: all 1
    bool mean;              // whether they are sums of weights, and not roots of sums of squares
};

/// Whether sum_bags has this format.
constexpr bool sums_bags(RowFormat format) {
    return format == RowFormat::int8 || format == RowFormat::int8_half || format == RowFormat::int4;
}

/// The rows of a BlockSum.
template <class Codec>
struct CodedRows {
    std::byte const* rows;
    std::size_t width, row_bytes;

    std::size_t bytes() const { return row_bytes; }
    ROWAN_INLINE std::byte const* address(std::int64_t position) const {
        return rows + static_cast<std::size_t>(position) * row_bytes;
    }
    ROWAN_INLINE Codec at(std::int64_t position, std::size_t column) const {
        return Codec(address(position), width).from(column);
    }
    template <class V>
    ROWAN_INLINE static V load(Codec const& row, std::size_t column) {
        return row.template load<V>(column);
    }
};

template <class Codec>
void sum_bags_with(EncodedBags const& bags, std::size_t begin, std::size_t end, float* to) {
    RowBags const all{bags.offsets.data(), bags.positions, static_cast<std::size_t>(bags.offsets.back())};
    BlockSum<float, float, CodedRows<Codec>> sum({bags.rows, bags.width, bags.bytes}, all.longest(begin, end),
                                                 2 * lookahead(bags.bytes));
    auto const divisor = [&](std::size_t bag) { return bags.divisors == nullptr ? 1.0F : bags.divisors[bag]; };
    auto const share = [&](std::size_t bag, std::size_t column, float total, float d) {
        if (bags.divisors == nullptr) return total;
        auto const weight = [&](std::size_t i) { return bags.weights == nullptr ? 1.0F : bags.weights[i]; };
        CodedRows<Codec> const rows{bags.rows, bags.width, bags.bytes};
        return share_of(total, d, bags.mean, all.begin(bag), all.begin(bag + 1), weight, [&](std::size_t i) {
            return CodedRows<Codec>::template load<float>(rows.at(bags.positions[i], column), 0);
        });
    };
    auto const pool = [&](auto const& terms) {
        on_lanes<float>(bags.width, [&]<class V>(as<V>) ROWAN_INLINED {
            pool_bags<V>(sum, all, begin, end, to + begin * bags.width, bags.width, terms, divisor, share);
        });
    };
    bags.weights == nullptr ? pool(whole_row{}) : pool(WeightedRow<float>{bags.weights});
}

/// Writes the sums of bags [begin, end) to these rows of `to`, as embedding_bag adds the rows as floats.
template <class F>
void sum_bags(EncodedBags const& bags, std::size_t begin, std::size_t end, F* to) {
    if (bags.format == RowFormat::int4) return sum_bags_with<Int4Row>(bags, begin, end, to);
    if (bags.format == RowFormat::int8) return sum_bags_with<Int8Row<float>>(bags, begin, end, to);
    sum_bags_with<Int8Row<float16>>(bags, begin, end, to);
}

ROWAN_TEMPLATE(void decode_rows<float>(EncodedRows const&, void*))
ROWAN_TEMPLATE(void sum_bags(EncodedBags const&, std::size_t, std::size_t, float*))

}  // namespace rowan::inline v0::detail
