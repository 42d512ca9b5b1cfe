// tests/parts.hpp: gradients of the parts of a batch, and slow sums of them.
#pragma once

#include <rowan/sparse/add.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include "inputs.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace parts {

using inputs::Random, inputs::Rows, inputs::Shape;
using rowan::dtype, rowan::SelectedRows, rowan::Tensor;

/// `n` parts of `lookups` rows below `distinct`, and from there to the end of the table; few rows are frequent.
template <class T>
std::vector<SelectedRows<T>> make(std::size_t n, std::size_t lookups, std::size_t width, std::int64_t height,
                                  std::uint64_t seed = 1) {
    Random random(seed);
    std::vector<SelectedRows<T>> all;
    for (std::size_t p = 0; p < n; ++p) {
        std::size_t const here = p % 5 == 3 ? 0 : lookups;  // a part may have no rows
        Rows rows;
        for (std::size_t i = 0; i < here; ++i) {
            auto const row = random.below(1 + random.below(height < 100 ? height : 100));
            rows.push_back(i % 7 == 0 ? height - 1 - row : row);
        }
        auto value = Tensor<T>::from_shape({here, width});
        for (std::size_t i = 0; i < value.size(); ++i) {
            if constexpr (requires { random.wild<T>(); }) value.data()[i] = random.wild<T>();
        }
        all.emplace_back(height, rows, std::move(value));
    }
    return all;
}

/// The parts of a rank: [rank * n / size, (rank + 1) * n / size).
template <class Part>
std::span<Part const> of_rank(std::vector<Part> const& all, int rank, int size) {
    std::size_t const n = all.size(), r = static_cast<std::size_t>(rank), ranks = static_cast<std::size_t>(size);
    return std::span(all).subspan(n * r / ranks, n * (r + 1) / ranks - n * r / ranks);
}

/// Rows and values as one number.
inline std::uint64_t bits(std::span<std::byte const> bytes, std::uint64_t h = 14695981039346656037U) {
    for (std::byte const b : bytes) h = (h ^ static_cast<std::uint64_t>(b)) * 1099511628211U;
    return h;
}
template <class T>
std::uint64_t bits(Tensor<T> const& t, std::uint64_t h = 14695981039346656037U) {
    for (std::size_t const dim : t.shape()) h = (h ^ dim) * 1099511628211U;
    return bits(std::as_bytes(std::span(t.data(), t.size())), h);
}
template <class T>
std::uint64_t bits(SelectedRows<T> const& g) {
    std::uint64_t const h = bits(std::as_bytes(g.rows()), static_cast<std::uint64_t>(g.height()) * 2 + g.merged());
    return bits(g.value(), h);
}

/// All contributions in one.
template <class T>
SelectedRows<T> joined(std::vector<SelectedRows<T>> const& all) {
    auto sum = all[0];
    for (std::size_t p = 1; p < all.size(); ++p) sum = add(sum, all[p]);
    return sum;
}

/// A part with elements dtype<T>::sum.
template <class T, class S = typename dtype<T>::sum>
SelectedRows<S> widened(SelectedRows<T> const& g) {
    auto value = Tensor<S>::from_shape(g.value().shape());
    for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = dtype<T>::widen(g.value().data()[i]);
    return SelectedRows<S>(g.height(), g.rows(), value);
}

/// The sum of parts [begin, begin + size) of one row, size a power of two; nothing if no part has the row.
template <class S>
std::optional<std::vector<S>> node(std::vector<std::map<std::int64_t, std::vector<S>>> const& all, std::int64_t row,
                                   std::size_t begin, std::size_t size) {
    if (begin >= all.size()) return {};
    if (size == 1) {
        auto const at = all[begin].find(row);
        if (at == all[begin].end()) return {};
        return at->second;
    }
    auto left = node(all, row, begin, size / 2);
    auto const right = node(all, row, begin + size / 2, size / 2);
    if (!left || !right) return left ? left : right;
    for (std::size_t i = 0; i < left->size(); ++i) (*left)[i] = (*left)[i] + (*right)[i];
    return left;
}

/// The tree over parts, written as its definition.
template <class T>
SelectedRows<T> slow_sum(std::vector<SelectedRows<T>> const& all) {
    using S = typename dtype<T>::sum;
    std::vector<std::map<std::int64_t, std::vector<S>>> sums;
    std::map<std::int64_t, int> rows;
    for (auto const& part : all) {
        auto const m = merge(widened(part));
        auto& to = sums.emplace_back();
        for (std::size_t i = 0; i < m.rows().size(); ++i) {
            auto const row = m.value().row(i);
            to[m.rows()[i]].assign(row.begin(), row.end());
            rows[m.rows()[i]] = 1;
        }
    }
    std::vector<std::int64_t> ids;
    auto shape = all[0].value().shape();
    shape[0] = rows.size();
    auto value = Tensor<T>::from_shape(shape);
    for (T* to = value.data(); auto const& [row, one] : rows) {
        ids.push_back(row);
        auto const sum = node(sums, row, 0, std::size_t{1} << 10);
        for (S const& x : *sum) *to++ = dtype<T>::narrow(x);
    }
    return SelectedRows<T>(all[0].height(), ids, std::move(value));
}

/// The values of parts as dense tensors of one shape.
template <class T>
std::vector<Tensor<T>> make_dense(std::size_t n, Shape const& shape, std::uint64_t seed = 1) {
    std::vector<Tensor<T>> all;
    for (std::size_t p = 0; p < n; ++p) all.push_back(inputs::wild<T>(shape, seed + p));
    return all;
}

}  // namespace parts
