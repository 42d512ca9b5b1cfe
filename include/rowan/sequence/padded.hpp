// rowan/sequence/padded.hpp: to_padded and from_padded, conversions between ragged batches and padded tensors.
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
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A padded tensor and the mask of its valid entries.
template <class T, class Device = Cpu>
struct Padded {
    Tensor<T, Device> value;    ///< [sequences, longest of each level..., ...]
    Tensor<bool, Device> mask;  ///< of the same dims without those of a row; true for rows, false for padding
};

namespace detail {

/// The lines of the last level's sequences in a tensor of dims [n_0, m_0, m_1, …], in ascending order. A line is the
/// innermost of these dims; lines are numbered in row-major order.
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

/// Enlarges dim l + 1, the length of the longest sequence of level l, to lengths[l]. Throws ShapeError if that is less.
template <class Shape>
void lengthen(Shape& shape, Ids<> const& lengths) {
    check_list("lengths", lengths);
    if (lengths.size() != shape.size() - 1)
        throw ShapeError("lengths.size()", lengths.size(), {shape.size() - 1, ", the number of levels"});
    for (std::size_t l = 0; l < lengths.size(); ++l) {
        if (std::cmp_less(lengths[l], shape[l + 1]))
            throw ShapeError({"lengths[", l, "]"}, lengths[l],
                             {"at least ", shape[l + 1], ", the longest sequence of the level"});
        shape[l + 1] = static_cast<std::size_t>(lengths[l]);
    }
}

/// The positions of sequences in a padded tensor: sequence s is at the start of line lines[s], which has length
/// `longest`.
struct PaddedPlaces {
    std::span<std::int64_t const> offsets;
    std::vector<std::size_t> lines;
    std::size_t places;  // the number of lines
    std::size_t longest;
};

/// Device-specific implementation of to_padded for rows of `width` elements.
template <class D>
struct Padding {
    static_assert(has_backend<D>,
                  "rowan: to_padded on a Thrust device needs #include <rowan/thrust/sequence/padded.hpp>");
};

template <>
struct Padding<Cpu> {
    template <class T>
    static void run(Cpu exec, PaddedPlaces const& to, std::size_t width, T const* rows, T padding, T* out, bool* mask) {
        std::size_t const line = to.longest * width;
        bool const stream = to.places >= stream_from / (line * sizeof(T) + 1);
        std::size_t const most = std::min(line, (std::size_t{16} << 10) / sizeof(T));  // elements of `blank`
        auto const blank = Tensor<T>::full({stream ? most : 0}, padding);
        parallel_work(
            exec, to.places * (line + to.longest), to.places, (std::size_t{1} << 16) / (line + 1),
            [&](std::size_t i, std::size_t end) {
                auto s =
                    static_cast<std::size_t>(std::lower_bound(to.lines.begin(), to.lines.end(), i) - to.lines.begin());
                for (; i < end; ++i) {
                    bool const present = s < to.lines.size() && to.lines[s] == i;
                    std::size_t const n = present ? length_at(to.offsets, s) : 0, used = n * width;
                    T const* const from = rows + (present ? static_cast<std::size_t>(to.offsets[s++]) * width : 0);
                    T* const at = out + i * line;
                    if (stream) {
                        stream_copy(at, from, used * sizeof(T));
                        for (std::size_t k = used; k < line; k += most)
                            stream_copy(at + k, blank.data(), std::min(most, line - k) * sizeof(T));
                    } else {
                        std::fill_n(std::copy_n(from, used, at), line - used, padding);
                    }
                    std::fill_n(std::fill_n(mask + i * to.longest, n, true), to.longest - n, false);
                }
                if (stream) stream_end();
            });
    }
};

}  // namespace detail

/// Pads all levels. Level l becomes a dim whose size is its longest sequence, or lengths[l] if `lengths` are given.
///
///     [a b]  []  [c]   ->   value  a b      mask  1 1
///                                  . .            0 0
///                                  c .            1 0
///
/// shapes   x [n, ...] of n_0 sequences -> value [n_0, m_0, m_1, …, ...] and mask [n_0, m_0, m_1, …], where m_l is the
///          longest sequence of level l, or lengths[l]
/// errors   ShapeError if x has no levels, lengths are given but not one number per level, lengths[l] is less than the
///          longest sequence of level l, or the result is too large or has more than 8 dims; ValueError if the element
///          type is an integer and cannot represent pad_value
/// cost     one read of x and one write of the result; lengths in device memory are copied to the host, which
///          synchronizes, here and in from_padded
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

/// The inverse of to_padded and, for pad_value 0, its adjoint: collects the rows that belong to the sequences of `lod`.
/// Dims may be larger than the longest sequences. The adjoint of from_padded is to_padded whose lengths are these dims.
/// shapes   padded [n_0, m_0, m_1, …, ...], one m per level of lod -> [rows of lod, ...] with lod
/// errors   ShapeError if lod has no levels, or padded has too few dims, another n_0 or an m less than a sequence of
///          its level
/// cost     one read and one write of the rows of lod
template <class T, device D>
LoDTensor<T, D> from_padded(D const& exec, Tensor<T, D> const& padded, Lod const& lod) {
    detail::check_exec(exec);
    detail::check_usable(exec, padded);
    detail::check_levels("lod", lod);
    auto const& dims = padded.shape();
    std::size_t const levels = lod.levels();
    if (dims.size() < levels + 1) throw ShapeError("padded rank", dims.size(), {"at least ", levels + 1});
    detail::check_height("padded", padded, static_cast<std::int64_t>(lod.sequences(0)));
    for (std::size_t l = 0; l < levels; ++l) {
        auto const offsets = lod[l];
        for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
            std::size_t const n = detail::length_at(offsets, s);
            if (n <= dims[l + 1]) continue;
            throw ShapeError({"padded.shape(", l + 1, ")"}, dims[l + 1],
                             {"at least ", n, ", the length of sequence ", s, " of level ", l});
        }
    }
    typename Tensor<T, D>::shape_type shape{static_cast<std::size_t>(lod.rows())};
    shape.insert(shape.end(), dims.begin() + static_cast<std::ptrdiff_t>(levels) + 1, dims.end());
    auto result = detail::new_tensor<T>(exec, shape);
    auto const lines = detail::padded_lines(lod, dims);
    auto const offsets = detail::last_level(lod);
    std::size_t const width = result.row_size();
    T const* const from = padded.data();
    detail::copy_blocks(
        exec, offsets, width * sizeof(T), [&](std::size_t s) { return from + lines[s] * dims[levels] * width; },
        detail::blocks_at(result.data(), offsets, width));
    return {std::move(result), lod};
}

/// Collects the rows of n sequences of the given lengths, as from_padded with a Lod of one level.
/// shapes   padded [n, m, ...], lengths [n] -> [Σ lengths, ...] with one level
/// errors   LodError if a length is negative; ShapeError if there are not n lengths, or one is greater than m
/// cost     one read and one write of the rows; lengths in device memory are copied to the host, which synchronizes
template <class T, device D>
LoDTensor<T, D> from_padded(D const& exec, Tensor<T, D> const& padded, std::type_identity_t<Ids<D>> lengths) {
    detail::HostIds<D> const on_host(exec, lengths);
    return from_padded(exec, padded, Lod::from_lengths({static_cast<Ids<> const&>(on_host)}));
}

template <class T, class Device>
Padded<T, Device> to_padded(LoDTensor<T, Device> const& x, double pad_value = 0,
                            std::type_identity_t<Ids<Device>> lengths = {}) {
    return to_padded(x.device(), x, pad_value, lengths);
}
template <class T, class Device>
LoDTensor<T, Device> from_padded(Tensor<T, Device> const& padded, Lod const& lod) {
    return from_padded(padded.device(), padded, lod);
}
template <class T, class Device>
LoDTensor<T, Device> from_padded(Tensor<T, Device> const& padded, std::type_identity_t<Ids<Device>> lengths) {
    return from_padded(padded.device(), padded, lengths);
}

}  // namespace rowan::inline v0
