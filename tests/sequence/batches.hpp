// tests/sequence/batches.hpp: batches of sequences, and plain versions of the algorithms.
#pragma once

#include "reference.hpp"
#include "refused.hpp"

#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>
#include <rowan/sequence/tensor_array.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace batches {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::StepMap, rowan::Tensor, rowan::TensorArray;
using List = std::vector<std::int64_t>;
using Lists = std::vector<List>;
using Shape = Tensor<float>::shape_type;
using reference::same;
using test::refused, test::refusal, test::seen;

template <class T>
bool same(LoDTensor<T> const& a, LoDTensor<T> const& b) {
    return a.lod() == b.lod() && same(a.value(), b.value());
}

// 0, 1, 2 …
template <class T = float>
Tensor<T> counted(Shape const& shape) {
    auto t = Tensor<T>::from_shape(shape);
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<T>(i);
    return t;
}

// Row r contains r.
inline LoDTensor<float> batch(Lod const& lod) { return {counted({static_cast<std::size_t>(lod.rows())}), lod}; }

template <class T>
LoDTensor<T> wild_batch(Lod const& lod, Shape const& row_shape, std::uint64_t seed) {
    Shape shape;
    shape.push_back(static_cast<std::size_t>(lod.rows()));
    for (std::size_t const dim : row_shape) shape.push_back(dim);
    return {inputs::wild<T>(shape, seed), lod};
}

inline List list(std::span<std::int64_t const> numbers) { return {numbers.begin(), numbers.end()}; }
inline List order(StepMap<> const& map) { return {map.order().begin(), map.order().end()}; }

template <class T>
std::vector<T> numbers(Tensor<T> const& t) {
    return {t.data(), t.data() + t.size()};
}

// For properties: a Lod of a few sequences, some of them empty, at every level.
inline Lod arbitrary_lod(std::size_t levels) {
    Lists lengths(levels);
    auto n = *rc::gen::inRange<std::size_t>(0, 5);
    for (List& level : lengths) {
        level = *rc::gen::container<List>(n, rc::gen::inRange<std::int64_t>(0, 4));
        n = static_cast<std::size_t>(std::accumulate(level.begin(), level.end(), std::int64_t{0}));
    }
    return Lod::from_lengths(lengths);
}

// The elements of each step, sequence by sequence.
inline Lists steps_of(Lod const& lod, std::size_t level, List const& order) {
    Lists steps;
    for (std::int64_t const s : order) {
        auto const at = static_cast<std::size_t>(s);
        auto const length = static_cast<std::size_t>(lod[level][at + 1] - lod[level][at]);
        if (steps.size() < length) steps.resize(length);
        for (std::size_t t = 0; t < length; ++t) steps[t].push_back(lod[level][at] + static_cast<std::int64_t>(t));
    }
    return steps;
}

inline List order_of(Lod const& lod, std::size_t level, bool sorted) {
    List order(lod.sequences(level));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    auto const lengths = lod.lengths(level);
    if (sorted) std::ranges::stable_sort(order, std::greater(), [&](std::int64_t s) { return lengths[static_cast<std::size_t>(s)]; });
    return order;
}

// Row numbers, and the offsets of the levels above them.
struct Plain {
    Lists offsets;
    List rows;

    void append(Lod const& lod, std::size_t level, std::int64_t e, std::size_t depth = 0) {
        if (level == lod.levels()) return rows.push_back(e);
        auto const begin = lod[level][static_cast<std::size_t>(e)];
        auto const end = lod[level][static_cast<std::size_t>(e) + 1];
        offsets[depth].push_back(offsets[depth].back() + end - begin);
        for (std::int64_t q = begin; q < end; ++q) append(lod, level + 1, q, depth + 1);
    }
};

// Concatenated sequences, or rows, of a level, with the levels below them.
inline Plain sub_batch(Lod const& lod, std::size_t level, List const& elements) {
    Plain plain{Lists(lod.levels() - level, List{0}), {}};
    for (std::int64_t const e : elements) plain.append(lod, level, e);
    return plain;
}

template <class T>
LoDTensor<T> rows_of(LoDTensor<T> const& x, Plain const& plain) {
    auto shape = x.shape();
    shape[0] = plain.rows.size();
    auto value = Tensor<T>::from_shape(shape);
    for (std::size_t i = 0; i < plain.rows.size(); ++i) {
        std::copy_n(x.value().data() + static_cast<std::size_t>(plain.rows[i]) * value.row_size(), value.row_size(),
                    value.data() + i * value.row_size());
    }
    return {std::move(value), Lod(plain.offsets)};
}

template <class T>
double dot(Tensor<T> const& a, Tensor<T> const& b) {
    REQUIRE(a.shape() == b.shape());
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Small multiples of 1/8: their products and sums are exact.
inline Tensor<double> eighths(Shape const& shape, std::uint64_t seed) {
    inputs::Random random(seed);
    auto t = Tensor<double>::from_shape(shape);
    for (double& x : t) x = static_cast<double>(random.below(81) - 40) / 8;
    return t;
}

inline rowan::StepMap<> map_of(List const& lengths, bool sorted = true) { return {Lod::from_lengths({lengths}), 0, sorted}; }

}  // namespace batches
