// tests/reference.hpp: slow, plain versions of rowan's algorithms.
#pragma once

#include <rowan/sparse/selected_rows.hpp>

#include "inputs.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

namespace reference {

using rowan::dtype, rowan::SelectedRows, rowan::Tensor;
template <class T>
using sum_t = typename dtype<T>::sum;

// The same shape and the same bits.
template <class T>
bool same(Tensor<T> const& a, Tensor<T> const& b) {
    return a.shape() == b.shape() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
template <class T>
bool same(SelectedRows<T> const& a, SelectedRows<T> const& b) {
    return a.height() == b.height() && std::ranges::equal(a.rows(), b.rows()) && same(a.value(), b.value());
}

template <class S>
S plus(S a, S b) {
    if constexpr (std::integral<S>) {
        return static_cast<S>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
        return a + b;
    }
}

// A product that is rounded before it is added, with any compiler flags.
template <class S>
S product(S a, S b) {
    S volatile result = a * b;
    return result;
}

// dst[rows[i]] += src[i], every contribution stored.
template <class T, class U>
void scatter_add(Tensor<T>& dst, std::span<std::int64_t const> rows, Tensor<U> const& src) {
    using S = std::common_type_t<sum_t<T>, sum_t<U>>;
    for (std::size_t i = 0; i < src.size(); ++i) {
        std::size_t const width = src.row_size();
        T& x = dst.data()[static_cast<std::size_t>(rows[i / width]) * width + i % width];
        S const sum = plus(static_cast<S>(dtype<T>::widen(x)), static_cast<S>(dtype<U>::widen(src.data()[i])));
        x = dtype<T>::narrow(static_cast<sum_t<T>>(sum));
    }
}

// Blocks of 64 in order, blocks of 64 of those …
template <class S>
S block_sum(std::vector<S> x) {
    while (x.size() > 1) {
        std::vector<S> sums;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (i % 64 == 0) {
                sums.push_back(x[i]);
            } else {
                sums.back() = plus(sums.back(), x[i]);
            }
        }
        x = sums;
    }
    return x[0];
}

// 16 interleaved partial sums, added as a binary tree.
template <class S>
S row_sum(std::vector<S> const& x) {
    std::array<S, 16> part{};
    for (std::size_t i = 0; i < x.size(); ++i) part[i % 16] = plus(part[i % 16], x[i]);
    for (std::size_t half : std::vector<std::size_t>{8, 4, 2, 1}) {
        for (std::size_t i = 0; i < half; ++i) part[i] = plus(part[i], part[i + half]);
    }
    return part[0];
}

// Adjacent elements: row_sum of blocks of 4096, of blocks of 4096 of those …
template <class S>
S adjacent_sum(std::vector<S> x) {
    while (x.size() > 4096) {
        std::vector<S> sums;
        for (std::size_t i = 0; i < x.size(); i += 4096) sums.push_back(row_sum(std::vector<S>(x.data() + i, x.data() + std::min(x.size(), i + 4096))));
        x = sums;
    }
    return row_sum(x);
}

// The summed gradient of every row that `g` names.
template <class T>
std::map<std::int64_t, std::vector<sum_t<T>>> sums(SelectedRows<T> const& g) {
    std::map<std::int64_t, std::vector<std::size_t>> positions;
    for (std::size_t i = 0; i < g.rows().size(); ++i) positions[g.rows()[i]].push_back(i);
    std::map<std::int64_t, std::vector<sum_t<T>>> result;
    for (auto const& [row, where] : positions) {
        auto& sum = result[row];
        for (std::size_t k = 0; k < g.row_size(); ++k) {
            std::vector<sum_t<T>> x;
            for (std::size_t i : where) x.push_back(dtype<T>::widen(g.value().data()[i * g.row_size() + k]));
            sum.push_back(block_sum(x));
        }
    }
    return result;
}

template <class T>
SelectedRows<T> merge(SelectedRows<T> const& g) {
    auto const merged = sums(g);
    auto shape = g.value().shape();
    shape[0] = merged.size();
    auto value = Tensor<T>::from_shape(shape);
    std::vector<std::int64_t> rows;
    T* to = value.data();
    for (auto const& [row, sum] : merged) {
        rows.push_back(row);
        for (auto const& x : sum) *to++ = dtype<T>::narrow(x);
    }
    return SelectedRows<T>(g.height(), rows, value);
}

// formula(g, p, s...) on single numbers: the summed gradient, the parameter, the states.
template <class G, class Formula, class... P>
void update(SelectedRows<G> const& g, Formula const& formula, Tensor<P>&... param) {
    using S = std::common_type_t<sum_t<G>, sum_t<P>...>;
    for (auto const& [row, sum] : sums(g)) {
        for (std::size_t k = 0; k < sum.size(); ++k) {
            std::size_t const at = static_cast<std::size_t>(row) * sum.size() + k;
            std::array<S, sizeof...(P)> x{static_cast<S>(dtype<P>::widen(param.data()[at]))...};
            auto const g_k = static_cast<S>(sum[k]);
            std::apply([&](auto&... s) { formula(g_k, s...); }, x);
            std::size_t i = 0;
            ((param.data()[at] = dtype<P>::narrow(static_cast<sum_t<P>>(x[i++]))), ...);
        }
    }
}

}  // namespace reference
