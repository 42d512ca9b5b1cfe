// rowan/thrust/op/detail/concat_split.hpp: concat and split on a device.
#pragma once

#include <rowan/op/shape/concat.hpp>
#include <rowan/op/shape/split.hpp>
#include <rowan/thrust/detail/copy_rows.hpp>
#include <rowan/thrust/detail/elementwise.hpp>

#include <cstddef>
#include <vector>

namespace rowan::inline v0::detail {

/// Copies runs of words; from_next and to_next are the distances between consecutive runs, in words.
template <class W>
struct CopyApart {
    W const* from;
    W* to;
    FastDivmod words;  // per run
    std::size_t from_next, to_next;

    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const run = words.quotient(k), word = k - run * words.by;
        to[run * to_next + word] = from[run * from_next + word];
    }
};

template <class System>
struct ConcatSplit<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;
    using Widths = std::vector<std::size_t>;

    template <class T>
    static void join(Device const& exec, std::size_t outer, Widths const& widths, std::vector<T const*> const& from,
                     T* to) {
        std::size_t const total = sum_of(widths);
        if (outer == 0) return;  // the pointers may be null
        for (std::size_t k = 0; k < widths.size(); to += widths[k++])
            copy(exec, outer, widths[k], from[k], widths[k], to, total);
    }

    template <class T>
    static void cut(Device const& exec, std::size_t outer, Widths const& widths, T const* from,
                    std::vector<T*> const& to) {
        std::size_t const total = sum_of(widths);
        if (outer == 0) return;
        for (std::size_t k = 0; k < widths.size(); from += widths[k++])
            copy(exec, outer, widths[k], from, total, to[k], widths[k]);
    }

private:
    static std::size_t sum_of(Widths const& widths) {
        std::size_t sum = 0;
        for (std::size_t const width : widths) sum += width;
        return sum;
    }

    template <class T>
    static void copy(Device const& exec, std::size_t runs, std::size_t width, T const* from, std::size_t from_next,
                     T* to, std::size_t to_next) {
        if (width == 0) return;
        std::size_t const apart = runs == 1 ? 0 : sizeof(T) * (from_next | to_next);
        std::size_t const bytes = width * sizeof(T);
        with_word(bytes | apart, from, to, [&]<class W>() {
            launch(
                exec, runs * (bytes / sizeof(W)),
                CopyApart<W>{reinterpret_cast<W const*>(from), reinterpret_cast<W*>(to), FastDivmod(bytes / sizeof(W)),
                             from_next * sizeof(T) / sizeof(W), to_next * sizeof(T) / sizeof(W)});
        });
    }
};

}  // namespace rowan::inline v0::detail
