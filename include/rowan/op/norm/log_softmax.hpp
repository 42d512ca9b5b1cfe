// rowan/op/norm/log_softmax.hpp: log_softmax, the logarithm of the softmax along an axis of a tensor.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/op/detail/softmax_rows.hpp>
#include <rowan/op/norm/declared.hpp>

namespace rowan::inline v0 {

/// x - max - log(Σ exp(x - max)) along an axis, by default row by row: the logarithm of softmax, finite where the
/// probability underflows. Computed in dtype<T>::sum and narrowed once; user-defined types need `exp` and `log` that ADL
/// finds. Sums are formed in 16 interleaved partial sums. A row is NaN if it contains a NaN or its maximum is infinite.
/// shapes   x [...] -> [...]
/// errors   ShapeError if x has rank 0; IndexError if the axis is not in [-rank, rank)
/// cost     as softmax
template <class T, device D>
Tensor<T, D> log_softmax(D const& exec, Tensor<T, D> const& x, SoftmaxOptions const& options = {}) {
    return detail::softmax_rows<detail::log_softmax_rule>(exec, x, options);
}

/// The gradient of x from the result and its gradient: out_grad - exp(out) · Σ out_grad along the axis.
/// shapes   both [...] -> [...]
/// errors   ShapeError if out has rank 0 or the shapes differ; IndexError if the axis is not in [-rank, rank)
/// cost     as softmax_grad
template <class T, device D>
Tensor<T, D> log_softmax_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad,
                              SoftmaxOptions const& options = {}) {
    return detail::softmax_rows_grad<detail::log_softmax_rule>(exec, out, out_grad, options);
}

template <class T, class Device>
Tensor<T, Device> log_softmax(Tensor<T, Device> const& x, SoftmaxOptions const& options = {}) {
    return log_softmax(x.device(), x, options);
}
template <class T, class Device>
Tensor<T, Device> log_softmax_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad,
                                   SoftmaxOptions const& options = {}) {
    return log_softmax_grad(out.device(), out, out_grad, options);
}

struct log_softmax_grad_op : detail::softmax_rows_grad_op<log_softmax_op, detail::log_softmax_rule> {};

/// See log_softmax. A tensor of rank 1 needs an axis.
struct log_softmax_op : detail::softmax_rows_op<log_softmax_op, detail::log_softmax_rule, log_softmax_grad_op> {};

}  // namespace rowan::inline v0
