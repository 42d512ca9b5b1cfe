// rowan/sequence/sequence_slice.hpp: sequence_slice, a slice of each sequence.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
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
    Ids<> const &first = host_offset, &count = host_length;
    auto starts = detail::slice_offsets(x.lod(), first, count);
    auto const offsets = detail::last_level(x.lod());
    auto shape = x.shape();
    shape[0] = static_cast<std::size_t>(starts.back());
    auto result = detail::new_tensor<T>(exec, shape);
    std::size_t const width = x.value().row_size();
    T const* const rows = x.value().data();
    T* const out = result.data();
    detail::copy_blocks(
        exec, starts, width * sizeof(T),
        [&](std::size_t i) { return rows + static_cast<std::size_t>(offsets[i] + first[i]) * width; },
        [&](std::size_t i) { return out + static_cast<std::size_t>(starts[i]) * width; });
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
    detail::HostIds<D> const host_offset(exec, offset), host_length(exec, length);
    Ids<> const &first = host_offset, &count = host_length;
    auto const starts = detail::slice_offsets(x_lod, first, count);
    detail::check_height("out_grad", out_grad.value(), starts.back());
    auto const offsets = detail::last_level(x_lod);
    auto shape = out_grad.shape();
    shape[0] = static_cast<std::size_t>(x_lod.rows());
    if constexpr (!detail::is_cpu<D>) {
        auto x_grad = detail::new_zeros<T>(exec, shape);
        std::size_t const width = x_grad.row_size();
        detail::copy_blocks(
            exec, starts, width * sizeof(T),
            [&](std::size_t s) { return out_grad.value().data() + static_cast<std::size_t>(starts[s]) * width; },
            [&](std::size_t s) { return x_grad.data() + static_cast<std::size_t>(offsets[s] + first[s]) * width; });
        return {std::move(x_grad), x_lod};
    } else {
        auto x_grad = Tensor<T>::from_shape(shape);
        std::size_t const width = x_grad.row_size();
        T const* const from = out_grad.value().data();
        T* const out = x_grad.data();
        detail::for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            for (; s < end; ++s) {
                auto const before = static_cast<std::size_t>(first[s]) * width;
                auto const size = static_cast<std::size_t>(count[s]) * width;
                T* to = out + static_cast<std::size_t>(offsets[s]) * width;
                to = std::fill_n(to, before, detail::zero<T>());
                to = std::copy_n(from + static_cast<std::size_t>(starts[s]) * width, size, to);
                std::fill_n(to, detail::length_at(offsets, s) * width - before - size, detail::zero<T>());
            }
        });
        return {std::move(x_grad), x_lod};
    }
}

template <class T, class Device>
LoDTensor<T, Device> sequence_slice(LoDTensor<T, Device> const& x, std::type_identity_t<Ids<Device>> offset,
                                    std::type_identity_t<Ids<Device>> length) {
    return sequence_slice(Device{}, x, offset, length);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_slice_grad(LoDTensor<T, Device> const& out_grad, Lod const& x_lod,
                                         std::type_identity_t<Ids<Device>> offset,
                                         std::type_identity_t<Ids<Device>> length) {
    return sequence_slice_grad(Device{}, out_grad, x_lod, offset, length);
}

}  // namespace rowan::inline v0

#include <rowan/sequence/sequence_slice_inl.hpp>
