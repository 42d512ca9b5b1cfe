// rowan/sequence/sequence_reverse.hpp: sequence_reverse, the rows of each sequence from the last to the first.
#pragma once

#include <rowan/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rowan::inline v0 {

/// The rows of each sequence of the last level in reverse. It is its own inverse and its own adjoint.
///
///     lod {{0, 3, 3, 5}}     [a b c]  []  [d e]   ->   [c b a]  []  [e d]
///
/// shapes   x [n, ...] -> [n, ...] with the levels of x
/// errors   ShapeError if x has no levels
/// cost     one read and one write of every row
template <class T>
LoDTensor<T> sequence_reverse(Cpu exec, LoDTensor<T> const& x) {
    detail::check_sequences(exec, "x", x);
    auto const offsets = detail::last_level(x.lod());
    std::size_t const width = x.value().row_size();
    auto result = Tensor<T>::from_shape(x.shape());
    T const* const rows = x.value().data();
    T* const out = result.data();
    detail::for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
        for (; s < end; ++s) {
            std::size_t const n = detail::length_at(offsets, s);
            std::size_t const begin = static_cast<std::size_t>(offsets[s]) * width;
            if (width == 1) {
                std::reverse_copy(rows + begin, rows + begin + n, out + begin);
                continue;
            }
            for (std::size_t i = 0; i < n; ++i)
                std::copy_n(rows + begin + (n - 1 - i) * width, width, out + begin + i * width);
        }
    });
    return {std::move(result), x.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_reverse(LoDTensor<T, Device> const& x) {
    return sequence_reverse(Device{}, x);
}

}  // namespace rowan::inline v0
