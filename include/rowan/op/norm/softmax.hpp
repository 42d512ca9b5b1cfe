// rowan/op/norm/softmax.hpp: softmax, the softmax along an axis of a tensor.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/op/detail/softmax_rows.hpp>
#include <rowan/op/norm/declared.hpp>

namespace rowan::inline v0 {

/// exp(x - max) / Σ exp(x - max) along an axis, by default row by row, computed in dtype<T>::sum and narrowed once;
/// user-defined types need an `exp` that ADL finds. Sums are formed in 16 interleaved partial sums. A row is NaN if it
/// contains a NaN or its maximum is infinite. Goodfellow et al.: Deep Learning, 2016, section 4.1.
/// shapes   x [...] -> [...]
/// errors   ShapeError if x has rank 0; IndexError if the axis is not in [-rank, rank)
/// cost     two reads of x and one write of the result, temporary memory of one row per thread, or of 80 rows; x and the
///          result may be transposed if the axis is not the last one; the same bits for any number of threads
template <class T, device D>
Tensor<T, D> softmax(D const& exec, Tensor<T, D> const& x, SoftmaxOptions const& options = {}) {
    return detail::softmax_rows<detail::softmax_rule>(exec, x, options);
}

/// The gradient of x from the result and its gradient: out · (out_grad - Σ out · out_grad) along the axis.
/// shapes   both [...] -> [...]
/// errors   ShapeError if out has rank 0 or the shapes differ; IndexError if the axis is not in [-rank, rank)
/// cost     two reads of both and one write of the result, temporary memory of one row per thread; all are transposed
///          if the axis is not the last one
template <class T, device D>
Tensor<T, D> softmax_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad,
                          SoftmaxOptions const& options = {}) {
    return detail::softmax_rows_grad<detail::softmax_rule>(exec, out, out_grad, options);
}

template <class T, class Device>
Tensor<T, Device> softmax(Tensor<T, Device> const& x, SoftmaxOptions const& options = {}) {
    return softmax(x.device(), x, options);
}
template <class T, class Device>
Tensor<T, Device> softmax_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad,
                               SoftmaxOptions const& options = {}) {
    return softmax_grad(out.device(), out, out_grad, options);
}

struct softmax_grad_op : detail::softmax_rows_grad_op<softmax_op, detail::softmax_rule> {};

/// See softmax. A tensor of rank 1 needs an axis.
struct softmax_op : detail::softmax_rows_op<softmax_op, detail::softmax_rule, softmax_grad_op> {};

}  // namespace rowan::inline v0
