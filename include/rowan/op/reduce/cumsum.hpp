// rowan/op/reduce/cumsum.hpp: cumsum, the running sums along an axis.
#pragma once

#include <rowan/op/detail/running.hpp>
#include <rowan/op/reduce/declared.hpp>

namespace rowan::inline v0 {

namespace detail {

struct running_sum {
    static constexpr double start = 0;
    ROWAN_FORMULA static V fold(V const& sum, V const& x) { return plus(sum, x); }
};

}  // namespace detail

/// The running sums along an axis: each element becomes the sum of all elements up to it.
///     cumsum([1 2 3])                                           ->   [1 3 6]
///     cumsum([1 2 3], {.exclusive = true})                      ->   [0 1 3]
///     cumsum([1 2 3], {.exclusive = true, .reverse = true})     ->   [5 3 0]
/// Sums are formed in order: of floats and 16-bit elements in double, of other types in dtype<T>::sum. Each is rounded
/// to T once. So a sum of n floats has an error of at most half a last bit and n · 2^-53 · Σ|x|.
/// shapes   x [...] -> [...]
/// errors   IndexError if the axis is not in [-rank, rank)
/// cost     one read of x and one write of the result; a thread sums whole lanes
template <class T, device D>
Tensor<T, D> cumsum(D const& exec, Tensor<T, D> const& x, CumsumOptions const& options = {}) {
    return detail::running<detail::running_sum>(exec, x, options);
}

template <class T = void, class X>  // as many parameters as xtensor's
requires detail::tensor_argument<X>
auto cumsum(X&& x) { return cumsum(x.device(), x, CumsumOptions()); }
template <class X>
requires detail::tensor_argument<X>
auto cumsum(X&& x, CumsumOptions options) { return cumsum(x.device(), x, options); }

/// See cumsum.
struct cumsum_op : detail::running_op<cumsum_op> {
    using grad = gradient<cumsum_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    template <class T, class D>
    static Tensor<T, D> run(D exec, Tensor<T, D> const& x, CumsumOptions const& options = {}) {
        return cumsum(exec, x, options);
    }

    /// The gradient of x: the running sums of that of the result from the other end.
    template <class T, class D>
    static Tensor<T, D> backward(D exec, Tensor<T, D> const& out_grad, CumsumOptions options = {}) {
        options.reverse = !options.reverse;
        return cumsum(exec, out_grad, options);
    }
};

}  // namespace rowan::inline v0
