// rowan/op/norm/softmax.hpp: softmax, the softmax along an axis of a tensor.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/op/detail/softmax_rows.hpp>
#include <rowan/op/norm/declared.hpp>
#include <rowan/op/norm/functions.hpp>

namespace rowan::inline v0 {

template <>
struct detail::function_of<softmax_op> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x, SoftmaxOptions const& options) {
        return softmax_rows<softmax_rule>(exec, x, options);
    }
};

template <>
struct detail::function_of<detail::backward_of<softmax_op>> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad,
                            SoftmaxOptions const& options) {
        return softmax_rows_grad<softmax_rule>(exec, out, out_grad, options);
    }
};

struct softmax_grad_op : detail::softmax_rows_grad_op<softmax_op, detail::softmax_rule> {};

/// See softmax. A tensor of rank 1 needs an axis.
struct softmax_op : detail::softmax_rows_op<softmax_op, detail::softmax_rule, softmax_grad_op> {};

}  // namespace rowan::inline v0
