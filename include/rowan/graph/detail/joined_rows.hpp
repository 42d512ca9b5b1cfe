// rowan/graph/detail/joined_rows.hpp: rows taken from a tensor, and tensors joined along their rows, on any device.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Row i of the result is row from[i].
template <class T, class D>
Tensor<T, D> picked_rows(D const& exec, Tensor<T, D> const& x, std::span<std::int64_t const> from) {
    auto shape = x.shape();
    shape[0] = from.size();
    auto out = new_tensor<T>(exec, shape);
    OnDevice<std::int64_t, D> const index(exec, from);
    take_rows(exec, from.size(), x.row_size(), x.data(), index.data(), out.data());
    return out;
}

/// Room for the rows of all of n tensors, of which at(k) is the k-th.
/// errors   ShapeError if trailing dims differ
template <class T, class D, class At>
Tensor<T, D> room_for_rows(D const& exec, std::size_t n, At const& at) {
    auto shape = at(0).shape();
    shape[0] = 0;
    for (std::size_t k = 0; k < n; ++k) {
        Tensor<T, D> const& x = at(k);
        check_rows("value", x);
        check_trailing("value", x, at(0).shape());
        shape[0] += x.shape()[0];
    }
    return new_tensor<T>(exec, shape);
}

/// The rows of all, one after the other.
template <class T, class D, class At>
Tensor<T, D> joined_rows(D const& exec, std::size_t n, At const& at) {
    auto all = room_for_rows<T>(exec, n, at);
    if constexpr (is_cpu<D>) {
        T* to = all.data();
        for (std::size_t k = 0; k < n; ++k) to = std::copy_n(at(k).data(), at(k).size(), to);
    } else {
        std::vector<std::int64_t> starts{0};
        for (std::size_t k = 0; k < n; ++k) starts.push_back(starts.back() + height_of(at(k)));
        std::size_t const width = all.row_size();
        copy_blocks(
            exec, starts, width * sizeof(T), [&](std::size_t k) { return at(k).data(); },
            [&](std::size_t k) { return all.data() + static_cast<std::size_t>(starts[k]) * width; });
    }
    return all;
}

/// Row i of the k-th becomes row to[k][i], all of which must be filled.
/// errors   ShapeError if one has another number of rows than places for them
template <class T, class D, class At>
Tensor<T, D> scattered_rows(D const& exec, std::size_t n, At const& at,
                            std::span<std::span<std::int64_t const> const> to) {
    auto all = room_for_rows<T>(exec, n, at);
    for (std::size_t k = 0; k < n; ++k) {
        check_height("value", at(k), static_cast<std::int64_t>(to[k].size()));
        OnDevice<std::int64_t, D> const index(exec, to[k]);
        put_rows(exec, to[k].size(), all.row_size(), at(k).data(), index.data(), all.data());
    }
    return all;
}

}  // namespace rowan::inline v0::detail
