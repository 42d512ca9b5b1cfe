// rowan/detail/reduction.hpp: Reduction, what becomes of the losses of a batch, and sums in an order that does not depend on threads.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/checked.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/infer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace rowan::inline v0 {

/// Of the losses of n rows: all of them, their mean, their sum. The mean of no rows is 0.
enum class Reduction : std::int32_t { none = 0, mean = 1, sum = 2 };

namespace detail {

/// Elements whose sum is formed by one thread, in 16 interleaved parts; these sums are then added in the same way.
inline constexpr std::size_t sum_block = 4096;

/// The sum of block(begin, end) over blocks of [0, n).
template <class S, class Block>
S blocked_sum(Cpu exec, std::size_t n, Block const& block) {
    Buffer<S> sums((n + sum_block - 1) / sum_block);
    bool const serial = threads_for(exec, n) == 1;
    parallel_for(exec, sums.size(), serial ? sums.size() : 4, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) sums[k] = block(k * sum_block, std::min(n, (k + 1) * sum_block));
    });
    return interleaved_sum<S>(sums.size(), static_cast<S const*>(sums.data()), [](auto const& a) { return a; });
}

/// total / n, and 0 if there is nothing
template <class S>
S mean_of(S const& total, std::size_t n) {
    return n == 0 ? constant<S>(0.0) : total / constant<S>(static_cast<double>(n));
}

/// The losses of the rows as the reduction wants them.
template <class T>
Tensor<T> reduce(Cpu exec, Reduction reduction, Buffer<sum_t<T>> const& losses) {
    using S = sum_t<T>;
    std::size_t const n = losses.size();
    if (reduction == Reduction::none) {
        auto out = Tensor<T>::from_shape({n});
        copy_lanes<S>(n, losses.data(), out.data());
        return out;
    }
    S const total = blocked_sum<S>(exec, n, [&](std::size_t begin, std::size_t end) {
        return interleaved_sum<S>(end - begin, losses.data() + begin, [](auto const& a) { return a; });
    });
    return Tensor<T>::full({1}, dtype<T>::narrow(reduction == Reduction::mean ? mean_of(total, n) : total));
}

/// The gradient of the reduced losses has their shape: [n], or [1].
template <class T>
void check_reduced(char const* field, Tensor<T> const& out_grad, Reduction reduction, std::size_t n) {
    std::size_t const size = reduction == Reduction::none ? n : 1;
    if (out_grad.dimension() == 1 && out_grad.size() == size) return;
    throw ShapeError(std::string(field).append(".shape()"), shape_text(out_grad.shape()),
                     std::string("[").append(std::to_string(size)).append("]"));
}

/// The gradient of the loss of row i.
template <class T>
sum_t<T> loss_grad(Tensor<T> const& out_grad, Reduction reduction, std::size_t i, std::size_t n) {
    auto const g = load<sum_t<T>>(out_grad.data() + (reduction == Reduction::none ? i : 0));
    return reduction == Reduction::mean ? mean_of(g, n) : g;
}

/// The dims of the reduced losses of so many rows.
constexpr Dims reduced_dims(Reduction reduction, std::int64_t n) {
    if (reduction == Reduction::none) return {n};
    return {1};
}

}  // namespace detail

}  // namespace rowan::inline v0
