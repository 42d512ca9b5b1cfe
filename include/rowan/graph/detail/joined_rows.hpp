// rowan/graph/detail/joined_rows.hpp: gathering, concatenating and scattering rows of tensors, on any device.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/detail/row_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// For each of n parts the one that becomes it, where part i of all, counted over the lists, becomes part to[k][i].
/// errors   ShapeError if the lists do not have n parts in all
ROWAN_IF_CALLED std::vector<std::int64_t> sources_of(std::span<std::span<std::int64_t const> const> to, std::size_t n);

/// Row i of the result is row from[i] of x.
template <class T, class D>
Tensor<T, D> picked_rows(D const& exec, Tensor<T, D> const& x, std::span<std::int64_t const> from) {
    check_usable(exec, x);
    auto shape = x.shape();
    shape[0] = from.size();
    auto out = new_tensor<T>(exec, shape);
    OnDevice<std::int64_t, D> const index(exec, from);
    take_rows(exec, from.size(), x.row_size(), x.data(), index.data(), out.data());
    return out;
}

/// The rows of the n tensors at(k), k in [0, n).
/// errors   ShapeError if a tensor has rank 0, or trailing dims differ
template <class At>
RowBlocks blocks_of(std::size_t n, At const& at) {
    RowBlocks rows("rows of the values", n);
    for (std::size_t k = 0; k < n; ++k) rows.add("value", at(k).shape(), at(k).data());
    return rows;
}

/// The rows of the n tensors at(k), concatenated.
template <class T, class D, class At>
Tensor<T, D> joined_rows(D const& exec, std::size_t n, At const& at) {
    for (std::size_t k = 0; k < n; ++k) check_usable(exec, at(k));
    return blocks_of(n, at).template joined<T>(exec);
}

/// Row i of at(k) becomes row to[k][i] of the result; `to` must contain every row of the result.
/// errors   ShapeError if the number of rows of at(k) differs from the size of to[k]
template <class T, class D, class At>
Tensor<T, D> scattered_rows(D const& exec, std::size_t n, At const& at,
                            std::span<std::span<std::int64_t const> const> to) {
    auto all = new_tensor<T>(exec, blocks_of(n, at).shape());
    for (std::size_t k = 0; k < n; ++k) {
        check_usable(exec, at(k));
        check_height("value", at(k), static_cast<std::int64_t>(to[k].size()));
        OnDevice<std::int64_t, D> const index(exec, to[k]);
        put_rows(exec, to[k].size(), all.row_size(), at(k).data(), index.data(), all.data());
    }
    return all;
}

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/joined_rows_inl.hpp>
