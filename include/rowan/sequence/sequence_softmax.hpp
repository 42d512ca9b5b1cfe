// rowan/sequence/sequence_softmax.hpp: sequence_softmax, weights of the rows of a sequence that sum to 1.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// exp(x - max) / sum of exp(x - max), over the rows of each sequence of the last level, column by column. Computed in dtype<T>::sum,
/// whose `exp` is found by its type, and narrowed once; sums are formed in input order and blocks of 64. A NaN or an infinite max makes
/// its column of the sequence NaN.
/// shapes   x [n, ...] -> [n, ...] with the levels of x
/// errors   ShapeError if x has no levels
/// cost     two reads of x and one write of the result, memory for the longest sequence of a thread; the same bits for any number of
///          threads
template <class T>
LoDTensor<T> sequence_softmax(Cpu exec, LoDTensor<T> const& x) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>,
                  "rowan::sequence_softmax: integers have no softmax, convert x to a type with fractions");
    detail::check_sequences(exec, "x", x);
    auto const offsets = detail::last_level(x.lod());
    std::size_t const width = x.value().row_size();
    auto result = Tensor<T>::from_shape(x.shape());
    T const* const rows = x.value().data();
    T* const out = result.data();
    detail::for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
        using std::exp;
        detail::ScratchRows<S> scratch(detail::longest_of(offsets, s, end), width);
        std::vector<S> greatest(width);
        for (; s < end; ++s) {
            std::size_t const n = detail::length_at(offsets, s);
            if (n == 0) continue;
            std::size_t const begin = static_cast<std::size_t>(offsets[s]) * width;
            detail::column_extremes<true>(rows + begin, n, width, greatest.data());
            for (std::size_t i = 0; i < n; ++i) {
                T const* const from = rows + begin + i * width;
                for (std::size_t k = 0; k < width; ++k)
                    scratch.row(i)[k] = exp(detail::load<S>(from + k) - greatest[k]);
            }
            S const* const sum = scratch.sum(n);
            for (std::size_t i = 0; i < n; ++i) {
                S* const row = scratch.row(i);
                T* const to = out + begin + i * width;
                detail::for_lanes<S>([](auto const& total, auto& e) { e = e / total; }, width, sum, row);
                detail::copy_lanes<S>(width, static_cast<S const*>(row), to);
            }
        }
    });
    return {std::move(result), x.lod()};
}

/// The gradient of x from that of `out`, the result of sequence_softmax: out * (out_grad - sum of out * out_grad).
/// shapes   out [n, ...], out_grad the same -> [n, ...] with the levels of out
/// errors   ShapeError if out has no levels or out_grad another shape
/// cost     two reads of both and one write of the result, memory for the longest sequence of a thread
template <class T>
LoDTensor<T> sequence_softmax_grad(Cpu exec, LoDTensor<T> const& out, std::type_identity_t<Tensor<T>> const& out_grad) {
    using S = detail::sum_t<T>;
    static_assert(!std::integral<S>, "rowan::sequence_softmax_grad: integers have no softmax");
    detail::check_sequences(exec, "out", out);
    if (out_grad.shape() != out.shape())
        throw ShapeError("out_grad.shape()", detail::shape_text(out_grad.shape()), detail::shape_text(out.shape()));
    auto const offsets = detail::last_level(out.lod());
    std::size_t const width = out.value().row_size();
    auto x_grad = Tensor<T>::from_shape(out.shape());
    T const* const rows = out.value().data();
    T const* const grad = out_grad.data();
    T* const to = x_grad.data();
    detail::for_sequences(exec, offsets, width, [&](std::size_t s, std::size_t end) {
        detail::ScratchRows<S> scratch(detail::longest_of(offsets, s, end), width);
        for (; s < end; ++s) {
            std::size_t const n = detail::length_at(offsets, s);
            if (n == 0) continue;
            std::size_t const begin = static_cast<std::size_t>(offsets[s]) * width;
            for (std::size_t i = 0; i < n; ++i) {
                std::size_t const at = begin + i * width;
                detail::for_lanes<S>([](auto const& y, auto const& g, auto& p) { p = detail::product(y, g); }, width,
                                     rows + at, grad + at, scratch.row(i));
            }
            S const* const dot = scratch.sum(n);
            for (std::size_t i = 0; i < n; ++i) {
                std::size_t const at = begin + i * width;
                S* const row = scratch.row(i);
                auto const formula = [](auto const& y, auto const& g, auto const& d, auto& p) {
                    p = detail::product(y, std::remove_cvref_t<decltype(y)>(g - d));
                };
                detail::for_lanes<S>(formula, width, rows + at, grad + at, dot, row);
                detail::copy_lanes<S>(width, static_cast<S const*>(row), to + at);
            }
        }
    });
    return {std::move(x_grad), out.lod()};
}

template <class T, class Device>
LoDTensor<T, Device> sequence_softmax(LoDTensor<T, Device> const& x) {
    return sequence_softmax(Device{}, x);
}
template <class T, class Device>
LoDTensor<T, Device> sequence_softmax_grad(LoDTensor<T, Device> const& out,
                                           std::type_identity_t<Tensor<T, Device>> const& out_grad) {
    return sequence_softmax_grad(Device{}, out, out_grad);
}

}  // namespace rowan::inline v0
