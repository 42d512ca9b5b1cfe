// rowan/sparse/detail/decode_rows.hpp: decode_rows, the elements of rows of a RowFormat as floats.
#pragma once

#include <rowan/detail/rows.hpp>
#include <rowan/sparse/detail/row_codecs.hpp>
#include <rowan/sparse/row_format.hpp>

#include <cstddef>
#include <span>

namespace rowan::inline v0::detail {

/// Rows to decode, and rows to prefetch meanwhile, by their addresses.
struct EncodedRows {
    RowFormat format;
    std::size_t width, bytes;  // of a row
    std::span<std::byte const*const> rows, next;
};

template <class Codec>
void decode_with(EncodedRows const& list, float* to) {
    on_lanes<float>(list.width, [&]<class V>(as<V>) ROWAN_INLINED {
        float* out = to;
        for (std::size_t i = 0; i < list.rows.size(); ++i, out += list.width) {
            if (i < list.next.size()) prefetch_row<false>(list.next[i], list.bytes);
            Codec const row(list.rows[i], list.width);
            each_with<V>(list.width, [&]<class W>(std::size_t column)
                                         ROWAN_INLINED { store(row.template load<W>(column), out + column); });
        }
    });
}

/// Writes the elements of the rows to consecutive rows of `to`. The format is not RowFormat::elements. A template, so that
/// only programs that call it compile it.
template <class F>
void decode_rows(EncodedRows const& rows, F* to) {
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

ROWAN_TEMPLATE(void decode_rows(EncodedRows const&, float*))

}  // namespace rowan::inline v0::detail
