// tests/sequence/batches.hpp: batches of sequences, plain versions of what becomes of them, and calls that must be refused.
#pragma once

#include "reference.hpp"

#include <rowan/sequence/lod.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>
#include <rowan/sequence/tensor_array.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace batches {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::StepMap, rowan::Tensor, rowan::TensorArray;
using List = std::vector<std::int64_t>;
using Lists = std::vector<List>;
using Shape = Tensor<float>::shape_type;
using reference::same;

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

// Row r holds r.
inline LoDTensor<float> batch(Lod const& lod) { return {counted({static_cast<std::size_t>(lod.rows())}), lod}; }

template <class T>
LoDTensor<T> wild_batch(Lod const& lod, Shape const& row_shape, std::uint64_t seed) {
    Shape shape{static_cast<std::size_t>(lod.rows())};
    shape.insert(shape.end(), row_shape.begin(), row_shape.end());
    return {inputs::wild<T>(shape, seed), lod};
}

inline List list(std::span<std::int64_t const> numbers) { return {numbers.begin(), numbers.end()}; }
inline List order(StepMap<> const& map) { return {map.order().begin(), map.order().end()}; }

template <class T>
std::vector<T> numbers(Tensor<T> const& t) {
    return {t.data(), t.data() + t.size()};
}

// For properties: a Lod of few sequences, of which some are empty, at every level.
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

// Sequences, or rows, of a level one after the other, with the levels below them.
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

// All that can be seen of an argument.
template <class T>
std::string seen(Tensor<T> const& t) {
    std::string text;
    for (std::size_t const n : t.shape()) text += std::to_string(n) + ",";
    return text + std::string(reinterpret_cast<char const*>(t.data()), t.size() * sizeof(T));
}
inline std::string seen(Lod const& lod) {
    std::string text;
    for (std::size_t l = 0; l < lod.levels(); ++l) {
        text += "|";
        for (std::int64_t const x : lod[l]) text += std::to_string(x) + ",";
    }
    return text;
}
template <class T>
std::string seen(LoDTensor<T> const& x) {
    return seen(x.lod()) + ":" + seen(x.value());
}
template <class T>
std::string seen(TensorArray<T> const& array) {
    std::string text = std::to_string(array.size());
    for (std::size_t i = 0; i < array.size(); ++i) text += array.written(i) ? std::string("[") + seen(array.read(i)) + "]" : "[]";
    return text;
}
inline std::string seen(StepMap<> const& map) {
    return seen(map.lod()) + std::to_string(map.level()) + seen(map.order()) + seen(Lod(Lists{list(map.starts())}));
}

/// The `E` that the call throws: the same on 1, 2 and 8 threads where it takes an execution, and every one of `x` as it was.
template <class E, class Call, class... X>
E refused(Call const& call, X const&... x) {
    std::array<std::string, sizeof...(X)> const before{seen(x)...};
    std::optional<E> error;
    for (int const threads : {1, 2, 8}) {
        CAPTURE(threads);
        try {
            if constexpr (std::invocable<Call const&, Cpu>) {
                call(Cpu{threads});
            } else {
                call();
            }
            FAIL_CHECK("nothing was thrown");
        } catch (E const& e) {
            if (error) CHECK(std::string(e.what()) == error->what());
            error = e;
        }
        std::array<std::string, sizeof...(X)> const after{seen(x)...};
        CHECK((before == after));
    }
    REQUIRE(error);
    return *error;
}

/// The text of that error.
template <class E, class Call, class... X>
std::string refusal(Call const& call, X const&... x) {
    return refused<E>(call, x...).what();
}

}  // namespace batches
