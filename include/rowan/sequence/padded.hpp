// rowan/sequence/padded.hpp: to_padded and from_padded, between ragged batches and rectangular tensors.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A rectangular tensor and which of its places hold elements.
template <class T, class Device = Cpu>
struct Padded {
    Tensor<T, Device> value;    ///< [sequences, the longest of each level..., ...]
    Tensor<bool, Device> mask;  ///< of the same dims but those of a row; true where a row is
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

/// Where sequences go in a padded tensor: sequence s fills the first places of line lines[s], of `longest` places each.
struct PaddedPlaces {
    std::span<std::int64_t const> offsets;
    std::vector<std::size_t> lines;
    std::size_t places;  // how many lines there are
    std::size_t longest;
};

/// How a device pads sequences of rows of `width` elements.
template <class D>
struct Padding;

template <>
struct Padding<Cpu> {
    template <class T>
    static void run(Cpu exec, PaddedPlaces const& to, std::size_t width, T const* rows, T padding, T* out, bool* mask) {
        std::size_t const line = to.longest * width;
        bool const serial = threads_for(exec, to.places * (line + to.longest)) == 1;
        parallel_for(exec, to.places, serial ? to.places : (std::size_t{1} << 16) / (line + 1),
                     [&](std::size_t i, std::size_t end) {
                         auto s = static_cast<std::size_t>(std::ranges::lower_bound(to.lines, i) - to.lines.begin());
                         for (; i < end; ++i) {
                             bool const present = s < to.lines.size() && to.lines[s] == i;
                             std::size_t const n = present ? length_at(to.offsets, s) : 0;
                             std::size_t const from = present ? static_cast<std::size_t>(to.offsets[s++]) * width : 0;
                             std::fill_n(std::copy_n(rows + from, n * width, out + i * line), line - n * width,
                                         padding);
                             std::fill_n(std::fill_n(mask + i * to.longest, n, true), to.longest - n, false);
                         }
                     });
    }
};

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
/// cost     one read of x and one write of the result; lengths in the memory of a device are waited for, here and below
template <class T, device D>
Padded<T, D> to_padded(D const& exec, LoDTensor<T, D> const& x, double pad_value = 0,
                       std::type_identity_t<Ids<D>> lengths = {}) {
    detail::check_sequences(exec, "x", x);
    T const padding = detail::checked_number<T>("pad_value", pad_value);
    Lod const& lod = x.lod();
    typename Tensor<T, D>::shape_type shape{lod.sequences(0)};
    for (std::size_t l = 0; l < lod.levels(); ++l) shape.push_back(detail::longest_of(lod[l], 0, lod.sequences(l)));
    if (lengths.size() != 0) detail::lengthen(shape, detail::HostIds<D>(exec, lengths));
    Padded<T, D> result{{}, detail::new_tensor<bool>(exec, shape)};
    shape.insert(shape.end(), x.shape().begin() + 1, x.shape().end());
    result.value = detail::new_tensor<T>(exec, shape);
    std::size_t const longest = shape[lod.levels()];
    if (longest == 0) return result;
    detail::PaddedPlaces const places{detail::last_level(lod), detail::padded_lines(lod, shape),
                                      result.mask.size() / longest, longest};
    detail::Padding<D>::run(exec, places, x.value().row_size(), x.value().data(), padding, result.value.data(),
                            result.mask.data());
    return result;
}

/// The inverse of to_padded, and for a pad_value of 0 its adjoint: the elements at the places that `lod` says are taken. The dims may be
/// longer than the longest sequences; from_padded's own adjoint is to_padded with their lengths.
/// shapes   padded [n_0, m_0, m_1, …, ...], as many m as lod has levels -> [rows of lod, ...] with lod
/// errors   ShapeError if lod has no levels, or padded too few dims, another n_0 or an m shorter than a sequence of its level
/// cost     one read and one write of the rows of lod
template <class T, device D>
LoDTensor<T, D> from_padded(D const& exec, Tensor<T, D> const& padded, Lod const& lod) {
    static_cast<void>(thread_count(detail::host_exec(exec)));
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
    typename Tensor<T, D>::shape_type shape{static_cast<std::size_t>(lod.rows())};
    shape.insert(shape.end(), dims.begin() + static_cast<std::ptrdiff_t>(levels) + 1, dims.end());
    auto result = detail::new_tensor<T>(exec, shape);
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
template <class T, device D>
LoDTensor<T, D> from_padded(D const& exec, Tensor<T, D> const& padded, std::type_identity_t<Ids<D>> lengths) {
    detail::HostIds<D> const on_host(exec, lengths);
    return from_padded(exec, padded, Lod::from_lengths({static_cast<Ids<> const&>(on_host)}));
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
