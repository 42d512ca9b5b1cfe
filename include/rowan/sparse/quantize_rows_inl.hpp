// rowan/sparse/quantize_rows_inl.hpp: definitions of rowan/sparse/quantize_rows.hpp.
#pragma once

#include <rowan/sparse/quantize_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/sparse/detail/encode_row.hpp>

#include <atomic>
#include <cstring>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION Tensor<std::uint8_t> encode_rows(Cpu exec, RowsToEncode const& from, StoredRows const& stored) {
    std::size_t const width = from.width, height = from.height;
    auto rows = Tensor<std::uint8_t>::from_shape({height, stored.bytes});
    auto* const to = reinterpret_cast<std::byte*>(rows.data());
    bool const converts = from.widen != nullptr && stored.format != RowFormat::elements;
    std::atomic<std::size_t> bad{height};
    parallel_work(exec, 8 * height * width, height, 4096 / (width + 1) + 1, [&](std::size_t row, std::size_t end) {
        Buffer<float> floats(converts ? width : 0);
        for (; row < end; ++row) {
            std::byte const* const in = static_cast<std::byte const*>(from.data) + row * from.bytes;
            if (converts) {
                from.widen(in, width, floats.data());
                if (encode_row(stored.format, std::span<float const>(floats.data(), width), to + row * stored.bytes))
                    continue;
                std::size_t first = bad;
                while (row < first && !bad.compare_exchange_weak(first, row)) {
                }
                return;
            }
            if (width != 0) std::memcpy(to + row * stored.bytes, in, stored.bytes);
        }
    });
    if (bad != height)
        throw ValueError("row", bad.load(),
                         {"finite numbers with a finite scale in the format ", format_name(stored.format)});
    return rows;
}

}  // namespace rowan::inline v0::detail

#endif
