// rowan/graph/detail/joined_rows.hpp: gathering, concatenating and scattering rows of tensors, on any device.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// Row i of the result is row from[i] of x.
template <class T, class D>
Tensor<T, D> picked_rows(D const& exec, Tensor<T, D> const& x, std::span<std::int64_t const> from) {
    auto shape = x.shape();
    shape[0] = from.size();
    auto out = new_tensor<T>(exec, shape);
    OnDevice<std::int64_t, D> const index(exec, from);
    take_rows(exec, from.size(), x.row_size(), x.data(), index.data(), out.data());
    return out;
}

/// An uninitialized tensor for the rows of the n >= 1 tensors at(k), k in [0, n).
/// errors   ShapeError if a tensor has rank 0, or trailing dims differ
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

/// The rows of the n tensors at(k), concatenated.
template <class T, class D, class At>
Tensor<T, D> joined_rows(D const& exec, std::size_t n, At const& at) {
    auto all = room_for_rows<T>(exec, n, at);
    Buffer<std::int64_t> starts(n + 1);
    starts[0] = 0;
    for (std::size_t k = 0; k < n; ++k) starts[k + 1] = starts[k] + height_of(at(k));
    std::span<std::int64_t const> const places(starts.data(), starts.size());
    std::size_t const width = all.row_size();
    copy_blocks(
        exec, places, width * sizeof(T), [&](std::size_t k) { return at(k).data(); },
        blocks_at(all.data(), places, width));
    return all;
}

/// Row i of at(k) becomes row to[k][i] of the result; `to` must contain every row of the result.
/// errors   ShapeError if the number of rows of at(k) differs from the size of to[k]
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
