// rowan/sparse/detail/decode_rows_inl.hpp: definitions of rowan/sparse/detail/decode_rows.hpp.
#pragma once

#include <rowan/sparse/detail/decode_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/detail/rows.hpp>
#include <rowan/sparse/detail/row_codecs.hpp>

namespace rowan::inline v0::detail {

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

ROWAN_FUNCTION void decode_rows(EncodedRows const& rows, float* to) {
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

}  // namespace rowan::inline v0::detail

#endif
