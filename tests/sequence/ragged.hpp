// tests/sequence/ragged.hpp: batches with shapes at the limits of the algorithms on sequences.
#pragma once

#include "batches.hpp"
#include "sanitizers.hpp"

#include <rowan/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ragged {

using batches::List, batches::Lists, batches::Shape, batches::same;
using rowan::Cpu, rowan::dtype, rowan::Lod, rowan::LoDTensor, rowan::Tensor;

// n sequences at the first level; at every level each third is empty, the others have up to `most` elements.
inline Lod random_lod(std::size_t levels, std::size_t n, std::int64_t most, std::uint64_t seed) {
    inputs::Random random(seed);
    Lists lengths(levels);
    for (List& level : lengths) {
        for (std::size_t s = 0; s < n; ++s) level.push_back(random.below(3) == 0 ? 0 : 1 + random.below(most));
        n = static_cast<std::size_t>(std::accumulate(level.begin(), level.end(), std::int64_t{0}));
    }
    return Lod::from_lengths(lengths);
}

inline std::vector<Lod> const& small_lods() {
    static std::vector<Lod> const lods{Lod{{0}},
                                       Lod{{0, 0}},
                                       Lod{{0, 0, 0}},
                                       Lod{{0, 1}},
                                       Lod{{0, 3, 3, 5}},
                                       Lod{{0, 63, 127, 192}},
                                       Lod{{0, 0, 130, 130}},
                                       Lod{{0}, {0}},
                                       Lod{{0, 0}, {0}},
                                       Lod{{0, 2, 2, 3}, {0, 2, 2, 5}},
                                       Lod{{0, 2}, {0, 0, 1}, {0, 4}},
                                       random_lod(2, 9, 4, 1),
                                       random_lod(3, 5, 3, 2)};
    return lods;
}

template <class T>
LoDTensor<T> wild_batch(Lod const& lod, Shape const& row_shape, std::uint64_t seed) {
    Shape shape(row_shape.size() + 1);
    shape[0] = static_cast<std::size_t>(lod.rows());
    std::copy(row_shape.begin(), row_shape.end(), shape.begin() + 1);
    return {inputs::wild<T>(shape, seed), lod};
}

// More than serial_below elements, in many short sequences, in some of very different lengths, and in a single one.
inline std::vector<LoDTensor<float>> large_batches() {
    std::vector<LoDTensor<float>> result;
    auto const add = [&](Lod const& lod, std::size_t width) {
        result.push_back(wild_batch<float>(lod, {width}, result.size() + 5));
        REQUIRE(result.back().value().size() >= rowan::detail::serial_below);
    };
    add(random_lod(1, 90'000, 9, 3), 1);
    add(random_lod(2, 3'000, 12, 4), 5);
    add(Lod{{0, 70'000, 70'001, 70'001, 75'000, 90'000}}, 4);
    add(Lod{{0, 300'000}}, 1);
    return result;
}

// Calls f with small batches of every kind.
template <class T, class F>
void for_batches(F const& f) {
    for (Shape const& shape : {Shape{}, Shape{1}, Shape{2}, Shape{17}, Shape{64}, Shape{3, 2}, Shape{2, 1, 3}, Shape{0}}) {
        for (Lod const& lod : small_lods()) {
            CAPTURE(lod, shape.size());
            f(wild_batch<T>(lod, shape, static_cast<std::uint64_t>(lod.rows()) + 11));
        }
    }
}

// Fills a block of this size with invalid values and frees it, so that the next result reuses it and unwritten elements
// show.
template <class T>
void spoil(Tensor<T> const& like) {
    auto t = Tensor<T>::from_shape(like.shape());
    auto* const bytes = reinterpret_cast<unsigned char*>(t.data());
    std::fill_n(bytes, t.size() * sizeof(T), static_cast<unsigned char>(0xA5));
    asm volatile("" : : "r"(bytes) : "memory");
}
template <class T>
void spoil(LoDTensor<T> const& like) {
    spoil(like.value());
}

// f(exec) has the same bits on 1, 2, 3 and 8 threads, and those of `want`.
template <class Want, class F>
void check_threads(Want const& want, F const& f) {
    for (int const threads : sanitizers::any ? std::vector{3} : std::vector{1, 2, 3, 8}) {
        CAPTURE(threads);
        spoil(want);
        CHECK(same(f(Cpu{threads}), want));
    }
}

// Element k of row i, widened.
template <class T>
auto at(Tensor<T> const& x, std::int64_t i, std::size_t k) {
    return dtype<T>::widen(x.data()[static_cast<std::size_t>(i) * x.row_size() + k]);
}

template <class T>
void put(Tensor<T>& x, std::int64_t i, std::size_t k, typename dtype<T>::sum const& value) {
    x.data()[static_cast<std::size_t>(i) * x.row_size() + k] = dtype<T>::narrow(value);
}

// Uninitialised, of the row shape of `like`.
template <class T>
Tensor<T> rows_like(Tensor<T> const& like, std::int64_t rows) {
    auto shape = like.shape();
    shape[0] = static_cast<std::size_t>(rows);
    return Tensor<T>::from_shape(shape);
}

// Calls f(s, begin, end) for each sequence of the last level.
template <class F>
void each_sequence(Lod const& lod, F const& f) {
    auto const offsets = lod[lod.levels() - 1];
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) f(static_cast<std::int64_t>(s), offsets[s], offsets[s + 1]);
}

}  // namespace ragged
