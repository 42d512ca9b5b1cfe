// rowan/detail/block_sum.hpp: BlockSum, the sum of a row's contributions in the documented order.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace rowan::inline v0::detail {

/// Contributions per block: the first level of the sum adds blocks of 64 contributions in input order, the next level
/// adds blocks of 64 of these sums, and so on.
inline constexpr std::size_t block_size = 64;

/// Contribution i of a sum is the row.
struct whole_row {
    whole_row from(std::size_t) const { return {}; }
    template <class V>
    ROWAN_INLINE V const& operator()(std::size_t, V const& x) const {
        return x;
    }
};

/// The rows of a value. Rows that are stored in another way have the same members.
template <class T>
struct ElementRows {
    T const* data;
    std::size_t width;

    std::size_t bytes() const { return width * sizeof(T); }
    ROWAN_INLINE T const* address(std::int64_t position) const {
        return data + static_cast<std::size_t>(position) * width;
    }
    /// What load() reads: a row from `column` on.
    ROWAN_INLINE T const* at(std::int64_t position, std::size_t column) const { return address(position) + column; }
    template <class V>
    ROWAN_INLINE static V load(T const* row, std::size_t column) {
        return detail::load<V>(row + column);
    }
};

/// Sums rows at given positions. It owns the memory of the partial sums, so each thread needs its own.
template <class T, class S, class Rows = ElementRows<T>>
class BlockSum {
public:
    /// `most` is the maximum number of contributions of one sum. Rows are prefetched `ahead` rows before they are read.
    BlockSum(Rows const& rows, std::size_t most, std::size_t ahead)
        : rows_(rows), width_(rows.width), ahead_(ahead), partial_((levels(most) + 1) * width_) {}
    BlockSum(T const* value, std::size_t width, std::size_t most)
        : BlockSum({value, width}, most, lookahead(width * sizeof(T))) {}

    /// Returns the sum of the rows at the n > 0 positions from `first` on, valid until the next call. `ahead` more
    /// positions follow in the array; their rows are prefetched.
    ROWAN_INLINE S const* operator()(std::int64_t const* first, std::size_t n, std::size_t ahead) {
        if constexpr (std::is_same_v<Rows, ElementRows<S>>) {
            if (n == 1) {
                if (ahead >= ahead_) prefetch_row<false>(rows_.address(first[ahead_]), rows_.bytes());
                return rows_.address(*first);
            }
        }
        return sum(first, n, ahead);
    }

    /// The same with registers V in a function that is compiled for them. Contribution i is map(i, row), and
    /// fold(contribution, sum) adds it. Unless `place` is null, the sum may be there, and then remains.
    template <class V, class Map = whole_row, class Fold = add_lanes>
    ROWAN_INLINE S const* fold_with(std::int64_t const* first, std::size_t n, std::size_t ahead, Map const& map = {},
                                    Fold const& fold = {}, S* place = nullptr) {
        std::size_t const top = n <= block_size ? 0 : levels(n);
        bool const at_once = top == 0 && place != nullptr;
        S* const sums = at_once ? place : partial_.data();  // of blocks of 64 contributions, of 64 such blocks, …
        for (std::size_t begin = 0; begin < n; begin += block_size) {
            std::size_t const end = std::min(n, begin + block_size);
            fold_block<V>(first, begin, end, n + ahead, map, fold, sums);
            std::size_t block = begin / block_size;
            for (std::size_t level = 0; level < top; ++level, block /= block_size) {
                S *const from = sums + level * width_, *const to = from + width_;
                block % block_size == 0 ? zip_with<V>(same_number{}, width_, to, static_cast<S const*>(from))
                                        : for_with<V>(fold, width_, static_cast<S const*>(from), to);
                if (end != n && (block + 1) % block_size != 0) break;
            }
        }
        return sums + top * width_;
    }

    std::size_t width() const { return width_; }

private:
    [[gnu::noinline]] S const* sum(std::int64_t const* first, std::size_t n, std::size_t ahead) {
        return on_lanes<S>(width_, [&]<class V>(as<V>) ROWAN_INLINED { return fold_with<V>(first, n, ahead); });
    }

    /// The levels of blocks of blocks.
    static std::size_t levels(std::size_t n) {
        std::size_t levels = 0;
        for (; n > block_size; n = (n + block_size - 1) / block_size) ++levels;
        return levels;
    }

    // Some columns at a time, whose sums stay in registers. The rows that follow are prefetched with the first ones.
    template <class V, class Map, class Fold>
    ROWAN_INLINE void fold_block(std::int64_t const* first, std::size_t begin, std::size_t end, std::size_t known,
                                 Map const& map, Fold const& fold, S* out) const {
        Rows const rows = rows_;
        std::size_t const ahead = ahead_, width = width_;
        if constexpr (is_register<V>) {
            std::size_t column = 0;
            auto const columns = [&]<class W, std::size_t... k>(as<W>, std::index_sequence<k...>) ROWAN_INLINED {
                constexpr std::size_t lanes = lanes_in<W>;
                for (; column + sizeof...(k) * lanes <= width; column += sizeof...(k) * lanes) {
                    auto from = rows.at(first[begin], column);
                    W sums[] = {W(map(begin, Rows::template load<W>(from, k * lanes)))...};
                    for (std::size_t i = begin;;) {
                        if (column == 0 && i + ahead < known)
                            prefetch_row<false>(rows.address(first[i + ahead]), rows.bytes());
                        if (++i == end) break;
                        from = rows.at(first[i], column);
                        (fold(W(map(i, Rows::template load<W>(from, k * lanes))), sums[k]), ...);
                    }
                    (store(sums[k], out + column + k * lanes), ...);
                }
            };
            columns(as<V>(), std::make_index_sequence<8>());
            columns(as<V>(), std::make_index_sequence<4>());
            columns(as<V>(), std::make_index_sequence<1>());
            if constexpr (lanes_in<V> * sizeof(S) > 16)
                columns(as<LaneRegister<S, 16>>(), std::make_index_sequence<1>());
            columns(as<S>(), std::make_index_sequence<1>());
        } else {
            for (std::size_t i = begin; i < end; ++i) {
                if (i + ahead < known) prefetch_row<false>(rows.address(first[i + ahead]), rows.bytes());
                auto const from = rows.at(first[i], 0);
                for (std::size_t column = 0; column < width; ++column) {
                    S const term = map(i, Rows::template load<S>(from, column));
                    i == begin ? static_cast<void>(out[column] = term) : fold(term, out[column]);
                }
            }
        }
    }

    Rows rows_;
    std::size_t width_;
    std::size_t ahead_;
    Buffer<S> partial_;
};

}  // namespace rowan::inline v0::detail
