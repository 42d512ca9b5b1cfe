// rowan/sparse/detail/stored_rows.hpp: StoredRows, rows of a RowFormat in memory, read as elements of a type.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/sparse/detail/decode_rows.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Whether T can be read from the floats of rows of few bits.
template <class T>
concept read_from_floats = !std::integral<sum_t<T>> && std::constructible_from<sum_t<T>, float>;

/// The addresses of rows of `bytes` bytes from `base` on: those of a list of row numbers, or all.
struct ListedRows {
    std::byte const* base;
    std::size_t bytes;
    std::int64_t const* wide;  // the list, in one of two types
    std::int32_t const* narrow;

    ROWAN_INLINE std::byte const* operator()(std::size_t i) const {
        if (wide != nullptr) i = static_cast<std::size_t>(wide[i]);
        if (narrow != nullptr) i = static_cast<std::size_t>(narrow[i]);
        return base + i * bytes;
    }
};

/// What rows are decoded to before they are converted to T.
template <class T>
using decoded_t = std::conditional_t<std::is_same_v<T, bfloat16>, bfloat16, float>;

/// Rows of one format and width. `decode` is decode_rows, or nullptr for RowFormat::elements: so only programs that
/// make a store of rows of few bits contain it.
struct StoredRows {
    static constexpr std::size_t block = 32;      // the rows that are decoded together
    static constexpr std::size_t scratch = 4096;  // their elements, unless a row has more

    RowFormat format;
    std::size_t width, bytes;  // of a row
    void (*decode)(EncodedRows const&, void*);
    void (*sum)(EncodedBags const&, std::size_t, std::size_t, float*);  // sum_bags, or nullptr

    /// errors   TypeError if rows of this format cannot be read as T; ShapeError if it has no rows of this width
    template <class T>
    static StoredRows of(RowFormat format, std::size_t width) {
        std::size_t const bytes = row_bytes(format, width, sizeof(T));
        if (format == RowFormat::elements) return {format, width, bytes, nullptr, nullptr};
        if constexpr (std::is_same_v<T, float>)
            return {format, width, bytes, &decode_rows<float>, sums_bags(format) ? &sum_bags<float> : nullptr};
        if constexpr (read_from_floats<T>) return {format, width, bytes, &decode_rows<decoded_t<T>>, nullptr};
        throw TypeError("format", format_name(format), {"rows that can be read as ", dtype<T>::name});
    }

    /// Writes the rows at the addresses at(0) to at(n - 1) to consecutive rows of `to`.
    template <class T, class At>
    void copy(Cpu exec, std::size_t n, At const& at, T* to) const {
        if (decode == nullptr)
            return copy_rows(exec, n, bytes, at, ConsecutiveRows<std::byte>{reinterpret_cast<std::byte*>(to), bytes});
        if (width == 0) return;
        std::size_t const grain = (std::size_t{64} << 10) / width + 64;
        parallel_work(exec, n * width, n, grain,
                      [&](std::size_t begin, std::size_t end) { decode_range(begin, end, at, to); });
    }

private:
    // Stores that bypass the caches would be slower: they do not overlap with the decoding.
    template <class T, class At>
    void decode_range(std::size_t begin, std::size_t end, At const& at, T* to) const {
        constexpr bool direct = std::is_same_v<T, decoded_t<T>>;
        std::size_t const most = std::clamp<std::size_t>(scratch / width, 1, block);
        Buffer<decoded_t<T>> decoded(direct ? 0 : most * width);
        std::array<std::byte const*, 2 * block> addresses;
        auto const some = [&](std::size_t first, std::size_t side) {
            std::size_t const n = std::min(most, end - std::min(end, first));
            for (std::size_t i = 0; i < n; ++i) addresses[side + i] = at(first + i);
            return std::span<std::byte const* const>(addresses.data() + side, n);
        };
        auto rows = some(begin, 0);
        for (auto const* const row : rows) prefetch_row<false>(row, bytes);
        for (std::size_t side = block; begin < end; side = block - side) {
            T* const out = to + begin * width;
            auto const next = some(begin + rows.size(), side);
            EncodedRows const list{format, width, bytes, rows, next};
            if constexpr (direct) {
                decode(list, out);
            } else if constexpr (read_from_floats<T>) {
                decode(list, decoded.data());
                copy_lanes<sum_t<T>>(rows.size() * width, decoded.data(), out);
            }
            begin += rows.size();
            rows = next;
        }
    }
};

}  // namespace rowan::inline v0::detail
