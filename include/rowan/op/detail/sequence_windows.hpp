// rowan/op/detail/sequence_windows.hpp: the element-wise kernels of sequence_context and of its gradients.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/operator.hpp>

#include <span>

namespace rowan::inline v0::detail {

/// Positions of windows; row i belongs to the sequence of rows [bounds[2 * i], bounds[2 * i + 1]).
struct Windows {
    std::int64_t const* bounds;
    std::int64_t start, length;
    std::size_t width;
};

/// Copies element `column` of place k % length of the window of row k / length.
template <class T>
struct CopyContext {
    Windows at;
    T const* x;
    T const* padding;  // a row for each row of ContextRows, or null
    std::int64_t before;
    T pad_value;
    T* out;

    /// The row that is copied, or null.
    ROWAN_HD T const* of_row(std::size_t k) const {
        auto const place = static_cast<std::int64_t>(k) % at.length, row = static_cast<std::int64_t>(k) / at.length;
        std::int64_t const begin = at.bounds[2 * row], end = at.bounds[2 * row + 1], from = row + at.start + place;
        if (from >= begin && from < end) return x + static_cast<std::size_t>(from) * at.width;
        if (padding == nullptr) return nullptr;
        std::int64_t const p = before + from - (from < begin ? begin : end);
        return padding + static_cast<std::size_t>(p) * at.width;
    }
    ROWAN_HD void operator()(T const* from, std::size_t k, std::size_t column) const {
        out[k * at.width + column] = from == nullptr ? pad_value : from[column];
    }
};

/// Sums the gradients of the places of windows that hold row `row`.
template <class T>
struct SumContext {
    Windows at;
    T const* out_grad;
    T* x_grad;

    ROWAN_HD std::size_t of_row(std::size_t row) const { return row; }
    ROWAN_KERNEL void operator()(std::size_t, std::size_t row, std::size_t column) const {
        using S = sum_t<T>;
        auto const r = static_cast<std::int64_t>(row);
        S sum = constant<S>(0.0);
        for (std::int64_t place = 0; place < at.length; ++place) {
            std::int64_t const i = r - at.start - place;
            if (i < at.bounds[2 * r] || i >= at.bounds[2 * r + 1]) continue;
            sum = S(sum + load<S>(out_grad + static_cast<std::size_t>(i * at.length + place) * at.width + column));
        }
        store(sum, x_grad + row * at.width + column);
    }
};

/// Sums the gradients of the places of windows that hold row `row` of the padding, sequence by sequence.
template <class T>
struct SumPadding {
    Windows at;  // bounds are the offsets of the sequences
    std::size_t sequences;
    std::int64_t before;
    T const* out_grad;
    T* w_grad;

    ROWAN_HD std::size_t of_row(std::size_t row) const { return row; }
    ROWAN_KERNEL void operator()(std::size_t, std::size_t row, std::size_t column) const {
        using S = sum_t<T>;
        S sum = constant<S>(0.0), block = sum;
        std::size_t terms = 0;
        auto const p = static_cast<std::int64_t>(row) - before;
        for (std::size_t s = 0; s < sequences; ++s) {
            std::int64_t const begin = at.bounds[s], end = at.bounds[s + 1];
            std::int64_t const i = (p < 0 ? begin : end) + p - at.start;  // the row whose first place this is
            std::int64_t const from = i >= end ? i - end + 1 : 0,
                               to = i - begin < at.length ? i - begin + 1 : at.length;
            for (std::int64_t place = from; place < to; ++place) {
                std::size_t const k = static_cast<std::size_t>((i - place) * at.length + place);
                block = S(block + load<S>(out_grad + k * at.width + column));
                if (++terms % 64 != 0) continue;
                sum = S(sum + block);
                block = constant<S>(0.0);
            }
        }
        store(S(sum + block), w_grad + row * at.width + column);
    }
};

inline std::vector<std::int64_t> bounds_of_rows(std::span<std::int64_t const> offsets) {
    std::vector<std::int64_t> bounds;
    bounds.reserve(2 * static_cast<std::size_t>(offsets.back()));
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i)
            bounds.insert(bounds.end(), {offsets[s], offsets[s + 1]});
    }
    return bounds;
}

}  // namespace rowan::inline v0::detail
