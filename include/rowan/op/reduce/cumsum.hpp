// rowan/op/reduce/cumsum.hpp: cumsum, the running sums along an axis.
#pragma once

#include <rowan/op/detail/running.hpp>
#include <rowan/op/reduce/declared.hpp>
#include <rowan/op/reduce/functions.hpp>

namespace rowan::inline v0 {

namespace detail {

struct running_sum {
    static constexpr double start = 0;
    ROWAN_FORMULA static V fold(V const& sum, V const& x) { return plus(sum, x); }
};

}  // namespace detail

template <>
struct detail::function_of<cumsum_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, CumsumOptions const& options) {
        return running<running_sum>(exec, x, options);
    }
};

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
