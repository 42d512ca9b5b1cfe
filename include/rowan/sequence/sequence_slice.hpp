// rowan/sequence/sequence_slice.hpp: sequence_slice, a slice of each sequence.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The row offsets of the result. Throws unless there is one slice per sequence of the last level and each is inside
/// it.
std::vector<std::int64_t> slice_offsets(Lod const& lod, Ids<> const& offset, Ids<> const& length);

}  // namespace detail

/// Keeps rows [offset[i], offset[i] + length[i]) of sequence i of the last level.
///
///     [a b c]  [d e]   offset {1, 0}, length {2, 0}   ->   [b c]  []
///
/// shapes   x [n, ...], offset and length with one number per sequence -> [Σ length, ...], with the upper levels of x
/// errors   ShapeError if x has no levels, or offset or length is not a flat list of one number per sequence;
///          IndexError if a slice is not inside its sequence
/// cost     one read and one write of the rows that are kept; offsets and lengths in device memory are copied to the
///          host, which synchronizes
template <class T, device D>
LoDTensor<T, D> sequence_slice(D const& exec, LoDTensor<T, D> const& x, std::type_identity_t<Ids<D>> offset,
                               std::type_identity_t<Ids<D>> length) {
    detail::check_sequences(exec, "x", x);
    detail::HostIds<D> const host_offset(exec, offset), host_length(exec, length);
    Ids<> const& first = host_offset;
    auto starts = detail::slice_offsets(x.lod(), first, host_length);
    auto const offsets = detail::last_level(x.lod());
    auto shape = x.shape();
    shape[0] = static_cast<std::size_t>(starts.back());
    auto result = detail::new_tensor<T>(exec, shape);
    std::size_t const width = x.value().row_size();
    T const* const rows = x.value().data();
    detail::copy_blocks(
        exec, starts, width * sizeof(T),
        [&](std::size_t i) { return rows + static_cast<std::size_t>(offsets[i] + first[i]) * width; },
        detail::blocks_at(result.data(), starts, width));
    return {std::move(result), detail::with_last_level(x.lod(), std::move(starts))};
}

/// The adjoint of sequence_slice: the gradient of the rows that were kept, and zeros for the others. `x_lod` is the Lod
/// of x.
/// shapes   out_grad [Σ length, ...] -> [rows of x_lod, ...] with x_lod
/// errors   as sequence_slice, and ShapeError if out_grad has another number of rows
/// cost     one read of out_grad and one write of the result
template <class T, device D>
LoDTensor<T, D> sequence_slice_grad(D const& exec, LoDTensor<T, D> const& out_grad, Lod const& x_lod,
                                    std::type_identity_t<Ids<D>> offset, std::type_identity_t<Ids<D>> length) {
    detail::check_levels("x_lod", x_lod);
    detail::check_usable(exec, out_grad.value());
    detail::HostIds<D> const host_offset(exec, offset), host_length(exec, length);
    Ids<> const& first = host_offset;
    auto const starts = detail::slice_offsets(x_lod, first, host_length);
    detail::check_height("out_grad", out_grad.value(), starts.back());
    auto const offsets = detail::last_level(x_lod);
    auto shape = out_grad.shape();
    shape[0] = static_cast<std::size_t>(x_lod.rows());
    auto x_grad = detail::new_tensor<T>(exec, shape);
    std::vector<std::int64_t> places(offsets.begin(), offsets.end() - 1);
    for (std::size_t s = 0; s < places.size(); ++s) places[s] += first[s];
    detail::spread_blocks(exec, starts, places, x_grad.row_size(), out_grad.value().data(), detail::zero<T>(), shape[0],
                          x_grad.data());
    return {std::move(x_grad), x_lod};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_slice(LoDTensor<T, Device> const& x, std::type_identity_t<Ids<Device>> offset,
                                    std::type_identity_t<Ids<Device>> length) {
    return sequence_slice(x.device(), x, offset, length);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_slice_grad(LoDTensor<T, Device> const& out_grad, Lod const& x_lod,
                                         std::type_identity_t<Ids<Device>> offset,
                                         std::type_identity_t<Ids<Device>> length) {
    return sequence_slice_grad(out_grad.device(), out_grad, x_lod, offset, length);
}

}  // namespace rowan::inline v0

#include <rowan/sequence/sequence_slice_inl.hpp>
