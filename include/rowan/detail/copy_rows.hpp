// rowan/detail/copy_rows.hpp: parallel copies of rows and blocks of rows.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

namespace rowan::inline v0::detail {

[[noreturn]] void too_many_rows(char const* field, std::int64_t rows, std::int64_t more);

/// The sum of two numbers of rows. It can overflow because rows without elements need no memory.
/// errors   ShapeError if the sum exceeds 2^63 - 1
inline std::int64_t checked_add(char const* field, std::int64_t rows, std::int64_t more) {
    if (more <= std::numeric_limits<std::int64_t>::max() - rows) return rows + more;
    too_many_rows(field, rows, more);
}

/// The address of row i of consecutive rows of `bytes` bytes.
template <class Byte>
struct ConsecutiveRows {
    Byte* data;
    std::size_t bytes;

    Byte* operator()(std::size_t i) const { return data + i * bytes; }
};

/// The address of row places[i] of consecutive rows of `bytes` bytes. One type for all elements: functions are
/// instantiated once.
template <class Byte>
struct PlacesOfRows {
    Byte* data;
    std::int64_t const* places;
    std::size_t bytes;

    Byte* operator()(std::size_t i) const { return data + static_cast<std::size_t>(places[i]) * bytes; }
};

/// The address of block i, from a list.
struct BlocksAt {
    void const* const* data;

    std::byte const* operator()(std::size_t i) const { return static_cast<std::byte const*>(data[i]); }
};

/// The implementation of row copies on a device.
template <class D>
struct RowCopies {
    static_assert(
        has_backend<D>,
        "rowan: a sequence operation on a Thrust device needs #include <rowan/thrust/sequence/lod_tensor.hpp>");
};

template <>
struct RowCopies<Cpu> {
    template <class From, class To>
    static void rows(Cpu exec, std::size_t n, std::size_t bytes, From const& from, To const& to) {
        if (bytes == 0) return;
        std::size_t const ahead = lookahead(bytes);
        bool const stream = n >= stream_from / bytes;
        std::size_t const grain = (std::size_t{256} << 10) / bytes + 64;
        parallel_work(exec, n * bytes / sizeof(float), n, grain, [&](std::size_t begin, std::size_t end) {
            auto source = from;
            auto asked = from;
            auto target = to;
            for (std::size_t i = begin; i < std::min(end, begin + ahead); ++i) prefetch_row<false>(asked(i), bytes);
            for (std::size_t i = begin; i < end; ++i) {
                if (i + ahead < end) prefetch_row<false>(asked(i + ahead), bytes);
                if (stream) {
                    stream_copy(target(i), source(i), bytes);
                } else {
                    std::memcpy(target(i), source(i), bytes);
                }
            }
            if (stream) stream_end();
        });
    }

    template <class From, class To>
    static void blocks(Cpu exec, std::span<std::int64_t const> starts, std::size_t bytes, From const& from,
                       To const& to) {
        auto const rows = static_cast<std::size_t>(starts.back());
        if (rows == 0 || bytes == 0) return;
        bool const stream = rows >= stream_from / bytes;
        std::size_t const grain = (std::size_t{1} << 20) / bytes + 1;
        parallel_work(exec, rows * bytes / sizeof(float), rows, grain, [&](std::size_t begin, std::size_t end) {
            auto source = from;
            auto target = to;
            auto const at = [&](std::size_t i) { return static_cast<std::size_t>(starts[i]); };
            auto const after = std::upper_bound(starts.begin(), starts.end(), static_cast<std::int64_t>(begin));
            for (auto i = static_cast<std::size_t>(after - starts.begin()) - 1; begin < end; ++i) {
                std::size_t const last = std::min(end, at(i + 1));
                if (begin == last) continue;
                std::size_t const skipped = (begin - at(i)) * bytes;
                auto const* const in = reinterpret_cast<char const*>(source(i)) + skipped;
                auto* const out = reinterpret_cast<char*>(target(i)) + skipped;
                if (stream) {
                    stream_copy(out, in, (last - begin) * bytes);
                } else {
                    std::memcpy(out, in, (last - begin) * bytes);
                }
                begin = last;
            }
            if (stream) stream_end();
        });
    }

    ROWAN_IF_CALLED static void take(Cpu exec, std::size_t n, std::size_t bytes, void const* from,
                                     std::int64_t const* index, void* to);
    ROWAN_IF_CALLED static void put(Cpu exec, std::size_t n, std::size_t bytes, void const* from,
                                    std::int64_t const* index, void* to);

    template <class T, class From>
    static void put_blocks(Cpu exec, std::span<std::int64_t const> starts, std::size_t width, From const& from,
                           std::int64_t const* index, T* to) {
        rows(exec, static_cast<std::size_t>(starts.back()), width * sizeof(T), RowsOfBlocks<From>{from, starts, width},
             [=](std::size_t i) { return to + static_cast<std::size_t>(index[i]) * width; });
    }

    template <class T>
    static void spread(Cpu exec, std::span<std::int64_t const> starts, std::span<std::int64_t const> places,
                       std::size_t width, T const* from, T padding, std::size_t rows, T* to) {
        std::size_t const grain = (std::size_t{1} << 20) / (width * sizeof(T) + 1) + 1;
        parallel_work(exec, rows * width, width == 0 ? 0 : rows, grain, [&](std::size_t begin, std::size_t end) {
            auto const place = [&](std::size_t i) { return static_cast<std::size_t>(places[i]); };
            auto const after = [&](std::size_t i) {
                return static_cast<std::size_t>(places[i] + starts[i + 1] - starts[i]);
            };
            std::size_t i = 0;  // the first block that ends after row `begin`
            for (std::size_t more = places.size(); more > 0;) {
                std::size_t const half = more / 2;
                if (after(i + half) <= begin) {
                    i += half + 1;
                    more -= half + 1;
                } else {
                    more = half;
                }
            }
            while (begin < end) {
                bool const padded = i == places.size() || place(i) > begin;
                std::size_t const last = std::min(end, !padded ? after(i) : i == places.size() ? end : place(i));
                if (padded) {
                    std::fill_n(to + begin * width, (last - begin) * width, padding);
                } else {
                    std::size_t const row = static_cast<std::size_t>(starts[i]) + begin - place(i);
                    std::copy_n(from + row * width, (last - begin) * width, to + begin * width);
                    ++i;
                }
                begin = last;
            }
        });
    }

private:
    /// The address of row i of all blocks; fastest for ascending i.
    template <class From>
    struct RowsOfBlocks {
        From from;
        std::span<std::int64_t const> starts;
        std::size_t width;
        std::size_t block = 0;

        auto operator()(std::size_t i) {
            auto const place = static_cast<std::int64_t>(i);
            if (place < starts[block] || place >= starts[block + 1]) {
                block =
                    static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), place) - starts.begin()) -
                    1;
            }
            return from(block) + (i - static_cast<std::size_t>(starts[block])) * width;
        }
    };
};

/// Copies n rows of `bytes` bytes: row i from the pointer from(i) to the pointer to(i). Each thread calls its own
/// copies of both, for ranges of ascending i. For a device other than Cpu they are called on the host.
template <class D, class From, class To>
void copy_rows(D const& exec, std::size_t n, std::size_t bytes, From const& from, To const& to) {
    RowCopies<D>::rows(exec, n, bytes, from, to);
}

/// The function i -> row starts[i] of a matrix: where block i begins. `starts` is not copied.
template <class T>
auto blocks_at(T* data, std::span<std::int64_t const> starts, std::size_t width) {
    using Byte = std::conditional_t<std::is_const_v<T>, std::byte const, std::byte>;
    return PlacesOfRows<Byte>{reinterpret_cast<Byte*>(data), starts.data(), width * sizeof(T)};
}

/// Copies blocks of rows of `bytes` bytes: block i, of starts[i + 1] - starts[i] rows, from from(i) to to(i). Work is
/// divided by rows, not by blocks, because block lengths may differ widely.
template <class D, class From, class To>
void copy_blocks(D const& exec, std::span<std::int64_t const> starts, std::size_t bytes, From const& from,
                 To const& to) {
    RowCopies<D>::blocks(exec, starts, bytes, from, to);
}

/// Copies n rows of `width` elements: to[i] = from[index[i]]. All three are in the device's memory.
template <class D, class T>
void take_rows(D const& exec, std::size_t n, std::size_t width, T const* from, std::int64_t const* index, T* to) {
    RowCopies<D>::take(exec, n, width * sizeof(T), from, index, to);
}

/// The inverse: to[index[i]] = from[i].
template <class D, class T>
void put_rows(D const& exec, std::size_t n, std::size_t width, T const* from, std::int64_t const* index, T* to) {
    RowCopies<D>::put(exec, n, width * sizeof(T), from, index, to);
}

/// The same for rows in blocks: block b, of starts[b + 1] - starts[b] rows, is at from(b). `starts` is in host memory.
template <class D, class T, class From>
void put_blocks(D const& exec, std::span<std::int64_t const> starts, std::size_t width, From const& from,
                std::int64_t const* index, T* to) {
    RowCopies<D>::put_blocks(exec, starts, width, from, index, to);
}

/// Copies consecutive blocks of rows of `width` elements, block i with starts[i + 1] - starts[i] rows, to rows
/// [places[i], …) of `to`, and fills the others of its `rows` rows with `padding`. Places ascend and do not overlap;
/// starts and places are in host memory.
template <class D, class T>
void spread_blocks(D const& exec, std::span<std::int64_t const> starts, std::span<std::int64_t const> places,
                   std::size_t width, T const* from, T padding, std::size_t rows, T* to) {
    RowCopies<D>::spread(exec, starts, places, width, from, padding, rows, to);
}

}  // namespace rowan::inline v0::detail

#include <rowan/detail/copy_rows_inl.hpp>
