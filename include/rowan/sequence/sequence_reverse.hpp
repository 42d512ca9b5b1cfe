// rowan/sequence/sequence_reverse.hpp: sequence_reverse, which reverses the rows of each sequence.
#pragma once

#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// Device-specific implementation of sequence_reverse.
template <class D>
struct SequenceReversal {
    static_assert(
        has_backend<D>,
        "rowan: sequence_reverse on a Thrust device needs #include <rowan/thrust/sequence/sequence_reverse.hpp>");
};

template <>
struct SequenceReversal<Cpu> {
    template <class T>
    static void run(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, T* out) {
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s);
                std::size_t const begin = static_cast<std::size_t>(offsets[s]) * width;
                if (width == 1) {
                    std::reverse_copy(rows + begin, rows + begin + n, out + begin);
                    continue;
                }
                for (std::size_t i = 0; i < n; ++i)
                    std::copy_n(rows + begin + (n - 1 - i) * width, width, out + begin + i * width);
            }
        });
    }
};

}  // namespace detail

/// Reverses the rows of each sequence of the last level. It is its own inverse and its own adjoint.
///
///     lod {{0, 3, 3, 5}}     [a b c]  []  [d e]   ->   [c b a]  []  [e d]
///
/// shapes   x [n, ...] -> [n, ...] with the levels of x
/// errors   ShapeError if x has no levels
/// cost     one read and one write of every row
template <class T, device D>
LoDTensor<T, D> sequence_reverse(D const& exec, LoDTensor<T, D> const& x) {
    detail::check_sequences(exec, "x", x);
    auto result = detail::new_tensor<T>(exec, x.shape());
    detail::SequenceReversal<D>::run(exec, detail::last_level(x.lod()), x.value().row_size(), x.value().data(),
                                     result.data());
    return {std::move(result), x.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_reverse(LoDTensor<T, Device> const& x) {
    return sequence_reverse(x.device(), x);
}

}  // namespace rowan::inline v0
