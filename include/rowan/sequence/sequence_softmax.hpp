// rowan/sequence/sequence_softmax.hpp: sequence_softmax, the softmax over the rows of each sequence.
#pragma once

#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/exponential.hpp>
#include <rowan/detail/lanes.hpp>
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

namespace detail {

/// exp(x - greatest)
struct shifted_exp {
    ROWAN_FORMULA V operator()(V const& x, V const& greatest) const { return exponential_of_negative(V(x - greatest)); }
};

/// Device-specific implementation of sequence_softmax and of its gradient.
template <class D>
struct SequenceSoftmax {
    static_assert(
        has_backend<D>,
        "rowan: sequence_softmax on a Thrust device needs #include <rowan/thrust/sequence/sequence_softmax.hpp>");
};

template <>
struct SequenceSoftmax<Cpu> {
    template <class T>
    static void run(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, T* out) {
        using S = sum_t<T>;
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            std::size_t const longest = longest_of(offsets, s, end);
            ScratchRows<S> scratch(longest, width);
            // The maxima are repeated, so that several narrow rows fill the registers.
            std::size_t const together = std::clamp<std::size_t>(64 / width, 1, std::max<std::size_t>(longest, 1));
            std::vector<S> greatest(together * width);
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s), begin = static_cast<std::size_t>(offsets[s]) * width;
                if (n == 0) continue;
                detail::column_extremes<true>(rows + begin, n, width, greatest.data());
                repeat(greatest.data(), width, std::min(n, together) - 1, greatest.data() + width);
                for (std::size_t i = 0; i < n; i += together)
                    zip_lanes<S>(shifted_exp{}, std::min(together, n - i) * width, scratch.row(i),
                                 rows + begin + i * width, std::as_const(greatest).data());
                S const* const sum = scratch.sum(n);
                for (std::size_t i = 0; i < n; ++i)
                    zip_lanes<S>(divided{}, width, out + begin + i * width, scratch.row(i), sum);
            }
        });
    }

    template <class T>
    static void grad(Cpu exec, std::span<std::int64_t const> offsets, std::size_t width, T const* rows, T const* grad,
                     T* to) {
        using S = sum_t<T>;
        for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
            ScratchRows<S> scratch(longest_of(offsets, s, end), width);
            for (; s < end; ++s) {
                std::size_t const n = length_at(offsets, s), begin = static_cast<std::size_t>(offsets[s]) * width;
                if (n == 0) continue;
                for (std::size_t i = 0, at = begin; i < n; ++i, at += width)
                    zip_lanes<S>(multiplied{}, width, scratch.row(i), rows + at, grad + at);
                S const* const dot = scratch.sum(n);
                for (std::size_t i = 0, at = begin; i < n; ++i, at += width)
                    zip_lanes<S>(softmax_slope{}, width, to + at, rows + at, grad + at, dot);
            }
        });
    }
};

}  // namespace detail

/// exp(x - max) / sum of exp(x - max), over the rows of each sequence of the last level, column by column. Computed in
/// dtype<T>::sum and rounded to T once; user-defined types need an `exp` that ADL finds. Sums are formed in input order
/// and blocks of 64. A NaN or an infinite max makes its column of the sequence NaN. Paddle's sequence_softmax.
/// shapes   x [n, ...] -> [n, ...] with the levels of x
/// errors   ShapeError if x has no levels
/// cost     two reads of x and one write of the result; temporary memory for the longest sequence of each thread, on a
///          device for all of x; the same bits for any number of threads and on all devices
template <class T, device D>
LoDTensor<T, D> sequence_softmax(D const& exec, LoDTensor<T, D> const& x) {
    static_assert(floating_element<T>, "rowan::sequence_softmax: x must have a floating-point type: convert it");
    detail::check_sequences(exec, "x", x);
    auto result = detail::new_tensor<T>(exec, x.shape());
    detail::SequenceSoftmax<D>::run(exec, detail::last_level(x.lod()), x.value().row_size(), x.value().data(),
                                    result.data());
    return {std::move(result), x.lod()};
}

/// The gradient of x from that of `out`, the result of sequence_softmax: out * (out_grad - sum of out * out_grad).
/// shapes   out [n, ...], out_grad the same -> [n, ...] with the levels of out
/// errors   ShapeError if out has no levels or out_grad another shape
/// cost     two reads of both and one write of the result; temporary memory for the longest sequence of each thread, on
///          a device for all of x
template <class T, device D>
LoDTensor<T, D> sequence_softmax_grad(D const& exec, LoDTensor<T, D> const& out,
                                      std::type_identity_t<Tensor<T, D>> const& out_grad) {
    static_assert(floating_element<T>, "rowan::sequence_softmax_grad: out must have a floating-point type");
    detail::check_sequences(exec, "out", out);
    detail::check_usable(exec, out_grad);
    detail::check_same_shape("out_grad", out_grad, out.value());
    auto x_grad = detail::new_tensor<T>(exec, out.shape());
    detail::SequenceSoftmax<D>::grad(exec, detail::last_level(out.lod()), out.value().row_size(), out.value().data(),
                                     out_grad.data(), x_grad.data());
    return {std::move(x_grad), out.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_softmax(LoDTensor<T, Device> const& x) {
    return sequence_softmax(x.device(), x);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_softmax_grad(LoDTensor<T, Device> const& out,
                                           std::type_identity_t<Tensor<T, Device>> const& out_grad) {
    return sequence_softmax_grad(out.device(), out, out_grad);
}

}  // namespace rowan::inline v0
