// rowan/sequence/padded.hpp: to_padded and from_padded, between ragged batches and rectangular tensors.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A rectangular tensor and which of its places hold elements.
template <class T, class Device = Cpu>
struct Padded {
    Tensor<T, Device> value;
    Tensor<bool, Device> mask;
};

namespace detail {

/// Where the sequences of the last level lie in a tensor of dims [n_0, m_0, m_1, …], counted in lines of the dim of the last level:
/// ascending.
template <class Shape>
std::vector<std::size_t> padded_lines(Lod const& lod, Shape const& dims) {
    std::vector<std::size_t> lines(lod.sequences(0));
    for (std::size_t s = 0; s < lines.size(); ++s) lines[s] = s;
    for (std::size_t l = 0; l + 1 < lod.levels(); ++l) {
        std::vector<std::size_t> below;
        below.reserve(lod.sequences(l + 1));
        for (std::size_t s = 0; s < lines.size(); ++s) {
            for (std::size_t k = 0; k < length_at(lod[l], s); ++k) below.push_back(lines[s] * dims[l + 1] + k);
        }
        lines = std::move(below);
    }
    return lines;
}

/// Makes the dims after the first, each as long as the longest sequence of a level, as long as the caller wants them.
template <class Shape>
void lengthen(Shape& shape, Ids<> const& lengths) {
    check_list("lengths", lengths);
    if (lengths.size() != shape.size() - 1)
        throw ShapeError("lengths.size()", std::to_string(lengths.size()),
                         std::to_string(shape.size() - 1) + ", the number of levels");
    for (std::size_t l = 0; l < lengths.size(); ++l) {
        if (std::cmp_less(lengths[l], shape[l + 1]))
            throw ShapeError("lengths[" + std::to_string(l) + "]", std::to_string(lengths[l]),
                             "at least " + std::to_string(shape[l + 1]) + ", the longest sequence of the level");
        shape[l + 1] = static_cast<std::size_t>(lengths[l]);
    }
}

}  // namespace detail

/// Pads all levels: each gets a dim as long as its longest sequence, or as `lengths` says, one number for each level.
///
///     [a b]  []  [c]   ->   value  a b      mask  1 1
///                                  . .            0 0
///                                  c .            1 0
///
/// shapes   x [n, ...] of n_0 sequences -> value [n_0, m_0, m_1, …, ...] and mask [n_0, m_0, m_1, …], with m_l the longest of level l,
///          or lengths[l]
/// errors   ShapeError if x has no levels, lengths are not as many, one is shorter than a sequence of its level, or the result does not
///          fit or has more than 8 dims; ValueError if the element type is an integer and cannot hold pad_value
/// cost     one read of x and one write of the result
template <class T>
Padded<T> to_padded(Cpu exec, LoDTensor<T> const& x, double pad_value = 0, Ids<> lengths = {}) {
    detail::check_sequences(exec, "x", x);
    T const padding = detail::checked_number<T>("pad_value", pad_value);
    Lod const& lod = x.lod();
    typename Tensor<T>::shape_type shape{lod.sequences(0)};
    for (std::size_t l = 0; l < lod.levels(); ++l) shape.push_back(detail::longest_of(lod[l], 0, lod.sequences(l)));
    if (lengths.size() != 0) detail::lengthen(shape, lengths);
    Padded<T> result{{}, Tensor<bool>::from_shape(shape)};
    shape.insert(shape.end(), x.shape().begin() + 1, x.shape().end());
    result.value = Tensor<T>::from_shape(shape);
    std::size_t const width = x.value().row_size();
    std::size_t const longest = shape[lod.levels()];
    std::size_t const line = longest * width;
    if (longest == 0) return result;
    auto const lines = detail::padded_lines(lod, shape);
    auto const offsets = detail::last_level(lod);
    T const* const rows = x.value().data();
    T* const out = result.value.data();
    bool* const mask = result.mask.data();
    std::size_t const places = result.mask.size() / longest;
    bool const serial = detail::threads_for(exec, result.value.size() + result.mask.size()) == 1;
    parallel_for(exec, places, serial ? places : (std::size_t{1} << 16) / (line + 1),
                 [&](std::size_t i, std::size_t end) {
                     auto s = static_cast<std::size_t>(std::ranges::lower_bound(lines, i) - lines.begin());
                     for (; i < end; ++i) {
                         bool const present = s < lines.size() && lines[s] == i;
                         std::size_t const n = present ? detail::length_at(offsets, s) : 0;
                         std::size_t const from = present ? static_cast<std::size_t>(offsets[s++]) * width : 0;
                         std::fill_n(std::copy_n(rows + from, n * width, out + i * line), line - n * width, padding);
                         std::fill_n(std::fill_n(mask + i * longest, n, true), longest - n, false);
                     }
                 });
    return result;
}

/// The inverse of to_padded, and for a pad_value of 0 its adjoint: the elements at the places that `lod` says are taken. The dims may be
/// longer than the longest sequences; from_padded's own adjoint is to_padded with their lengths.
/// shapes   padded [n_0, m_0, m_1, …, ...], as many m as lod has levels -> [rows of lod, ...] with lod
/// errors   ShapeError if lod has no levels, or padded too few dims, another n_0 or an m shorter than a sequence of its level
/// cost     one read and one write of the rows of lod
template <class T>
LoDTensor<T> from_padded(Cpu exec, Tensor<T> const& padded, Lod const& lod) {
    static_cast<void>(thread_count(exec));
    detail::check_levels("lod", lod);
    auto const& dims = padded.shape();
    std::size_t const levels = lod.levels();
    if (dims.size() < levels + 1)
        throw ShapeError("padded rank", std::to_string(dims.size()), "at least " + std::to_string(levels + 1));
    detail::check_height("padded", padded, static_cast<std::int64_t>(lod.sequences(0)));
    for (std::size_t l = 0; l < levels; ++l) {
        auto const offsets = lod[l];
        for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
            std::size_t const n = detail::length_at(offsets, s);
            if (n <= dims[l + 1]) continue;
            throw ShapeError("padded.shape(" + std::to_string(l + 1) + ")", std::to_string(dims[l + 1]),
                             "at least " + std::to_string(n) + ", the length of sequence " + std::to_string(s) +
                                 " of level " + std::to_string(l));
        }
    }
    typename Tensor<T>::shape_type shape{static_cast<std::size_t>(lod.rows())};
    shape.insert(shape.end(), dims.begin() + static_cast<std::ptrdiff_t>(levels) + 1, dims.end());
    auto result = Tensor<T>::from_shape(shape);
    auto const lines = detail::padded_lines(lod, dims);
    auto const offsets = detail::last_level(lod);
    std::size_t const width = result.row_size();
    T const* const from = padded.data();
    T* const out = result.data();
    detail::copy_blocks(
        exec, offsets, width * sizeof(T), [&](std::size_t s) { return from + lines[s] * dims[levels] * width; },
        [&](std::size_t s) { return out + static_cast<std::size_t>(offsets[s]) * width; });
    return {std::move(result), lod};
}

/// The same for one level of sequences of these lengths.
/// shapes   padded [n, m, ...], lengths [n] -> [Σ lengths, ...]
/// errors   as above; LodError if a length is negative
template <class T>
LoDTensor<T> from_padded(Cpu exec, Tensor<T> const& padded, Ids<> lengths) {
    return from_padded(exec, padded, Lod::from_lengths({lengths}));
}

template <class T, class Device>
Padded<T, Device> to_padded(LoDTensor<T, Device> const& x, double pad_value = 0,
                            std::type_identity_t<Ids<Device>> lengths = {}) {
    return to_padded(Device{}, x, pad_value, lengths);
}
template <class T, class Device>
LoDTensor<T, Device> from_padded(Tensor<T, Device> const& padded, Lod const& lod) {
    return from_padded(Device{}, padded, lod);
}
template <class T, class Device>
LoDTensor<T, Device> from_padded(Tensor<T, Device> const& padded, std::type_identity_t<Ids<Device>> lengths) {
    return from_padded(Device{}, padded, lengths);
}

}  // namespace rowan::inline v0
