// rowan/op/norm/functions.hpp: softmax, log_softmax, layer_norm and batch_norm of tensors.
#pragma once

#include <rowan/op/detail/run_of.hpp>
#include <rowan/op/norm/declared.hpp>

#include <tuple>

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
    static_assert(floating_element<T>, "rowan::softmax: x must have a floating-point type: convert it");
    return detail::run_of<softmax_op, Tensor<T, D>>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> softmax(Tensor<T, Device> const& x, SoftmaxOptions const& options = {}) {
    return softmax(x.device(), x, options);
}

/// The gradient of x from the result and its gradient: out · (out_grad - Σ out · out_grad) along the axis.
/// shapes   both [...] -> [...]
/// errors   ShapeError if out has rank 0 or the shapes differ; IndexError if the axis is not in [-rank, rank)
/// cost     two reads of both and one write of the result, temporary memory of one row per thread; all are transposed
///          if the axis is not the last one
template <class T, device D>
Tensor<T, D> softmax_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad,
                          SoftmaxOptions const& options = {}) {
    return detail::run_of<detail::backward_of<softmax_op>, Tensor<T, D>>(exec, out, out_grad, options);
}
template <class T, class Device>
Tensor<T, Device> softmax_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad,
                               SoftmaxOptions const& options = {}) {
    return softmax_grad(out.device(), out, out_grad, options);
}

/// x - max - log(Σ exp(x - max)) along an axis, by default row by row: the logarithm of softmax, finite where the
/// probability underflows. Computed in dtype<T>::sum and narrowed once; user-defined types need `exp` and `log` that ADL
/// finds. Sums are formed in 16 interleaved partial sums. A row is NaN if it contains a NaN or its maximum is infinite.
/// shapes   x [...] -> [...]
/// errors   ShapeError if x has rank 0; IndexError if the axis is not in [-rank, rank)
/// cost     as softmax
template <class T, device D>
Tensor<T, D> log_softmax(D const& exec, Tensor<T, D> const& x, SoftmaxOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::log_softmax: x must have a floating-point type: convert it");
    return detail::run_of<log_softmax_op, Tensor<T, D>>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> log_softmax(Tensor<T, Device> const& x, SoftmaxOptions const& options = {}) {
    return log_softmax(x.device(), x, options);
}

/// The gradient of x from the result and its gradient: out_grad - exp(out) · Σ out_grad along the axis.
/// shapes   both [...] -> [...]
/// errors   ShapeError if out has rank 0 or the shapes differ; IndexError if the axis is not in [-rank, rank)
/// cost     as softmax_grad
template <class T, device D>
Tensor<T, D> log_softmax_grad(D const& exec, Tensor<T, D> const& out, Tensor<T, D> const& out_grad,
                              SoftmaxOptions const& options = {}) {
    return detail::run_of<detail::backward_of<log_softmax_op>, Tensor<T, D>>(exec, out, out_grad, options);
}
template <class T, class Device>
Tensor<T, Device> log_softmax_grad(Tensor<T, Device> const& out, Tensor<T, Device> const& out_grad,
                                   SoftmaxOptions const& options = {}) {
    return log_softmax_grad(out.device(), out, out_grad, options);
}

/// Normalises each row, along the last axis or from begin_axis on: (x - mean) / √(variance + epsilon) · scale + shift,
/// with the mean and the variance of the row (divided by its size). Ba et al.: Layer Normalization, 2016. The mean is the
/// first element + the mean of x - that, so that equal elements have the variance 0, however large they are; the variance
/// is that of x - mean, in a second pass. Both sums have 16 interleaved parts, as in softmax; they are computed in
/// dtype<T>::sum. Right for all finite rows of float, double and 16-bit types: where squares overflow or vanish, the row
/// is first multiplied by a power of two. The bits are the same for any number of threads and on every device.
/// User-defined types need a sqrt.
/// shapes   x [n, ...], scale and shift the dims of x from begin_axis on -> [n, ...]
/// errors   ShapeError if the rank of x is below 2 or scale or shift has another shape; ValueError if begin_axis is 0
///          or not an axis of x, or epsilon is negative or not finite
/// cost     one read of x, which stays in the cache for the second and third pass over a row, and one write
template <class T, device D>
Tensor<T, D> layer_norm(D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& scale, Tensor<T, D> const& shift,
                        LayerNormOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::layer_norm: x must have a floating-point type: convert it");
    return detail::run_of<layer_norm_op, Tensor<T, D>>(exec, x, scale, shift, options);
}

/// Normalises each row: (x - mean) / √(variance + epsilon), as layer_norm with scale and shift (Ba et al. 2016).
/// shapes   x [n, ...] -> [n, ...]
/// errors   ShapeError if the rank of x is below 2; ValueError if begin_axis is 0 or not an axis of x, or epsilon is
///          negative or not finite
/// cost     one read of x, which stays in the cache for the second and third pass over a row, and one write
template <class T, device D>
Tensor<T, D> layer_norm(D const& exec, Tensor<T, D> const& x, LayerNormOptions const& options = {}) {
    static_assert(floating_element<T>, "rowan::layer_norm: x must have a floating-point type: convert it");
    return detail::run_of<layer_norm_op, Tensor<T, D>>(exec, x, options);
}
template <class T, class Device>
Tensor<T, Device> layer_norm(Tensor<T, Device> const& x, Tensor<T, Device> const& scale, Tensor<T, Device> const& shift,
                             LayerNormOptions const& options = {}) {
    return layer_norm(x.device(), x, scale, shift, options);
}
template <class T, class Device>
Tensor<T, Device> layer_norm(Tensor<T, Device> const& x, LayerNormOptions const& options = {}) {
    return layer_norm(x.device(), x, options);
}

/// Normalises each column: (x - mean) / √(variance + epsilon) · scale + shift. In training, with the mean and the
/// variance of the column over all rows of the batch (divided by their number), and moves the moving statistics towards
/// these: momentum · moving + (1 - momentum) · that of the batch, as Paddle's; otherwise with the moving ones, which
/// remain. In training, a batch of one row gives the shift, and one without rows changes nothing. Ioffe and Szegedy:
/// Batch Normalization, 2015. The sums over rows are formed in blocks of 64, as in merge; the mean is x[0] + that of x -
/// x[0], so that equal elements have the variance 0, however large they are; the variance is that of x - mean, in a
/// second pass. The bits are the same for any number of threads and on every device. User-defined types need
/// a sqrt. Moving statistics of 16-bit numbers should be floats: rounded to 16 bits in every step, they stop moving at a
/// distance. M is the type of x or dtype<T>::sum.
/// shapes   x [n, width]; scale, shift, mean and variance [width] -> [n, width], and the next mean and variance [width]
/// errors   ShapeError if x is not a matrix or the others do not have its width; ValueError if epsilon is negative or
///          not finite, or momentum is not in [0, 1], or, on Cpu and in training, the variance of a column of finite
///          elements, or its next moving one, is above the largest number of its type
/// cost     in training three reads of x, otherwise one, and one write; temporary memory for the sums of blocks: 1/64
///          of x
template <class T, device D, class M = T>
std::tuple<Tensor<T, D>, Tensor<M, D>, Tensor<M, D>> batch_norm(D const& exec, Tensor<T, D> const& x,
                                                                Tensor<T, D> const& scale, Tensor<T, D> const& shift,
                                                                Tensor<M, D> const& mean, Tensor<M, D> const& variance,
                                                                BatchNormAttributes const& options, bool training) {
    static_assert(floating_element<T>, "rowan::batch_norm: x must have a floating-point type: convert it");
    return detail::run_of<batch_norm_op, std::tuple<Tensor<T, D>, Tensor<M, D>, Tensor<M, D>>>(
        exec, x, scale, shift, mean, variance, options, training);
}
template <class T, class Device, class M = T>
std::tuple<Tensor<T, Device>, Tensor<M, Device>, Tensor<M, Device>> batch_norm(
    Tensor<T, Device> const& x, Tensor<T, Device> const& scale, Tensor<T, Device> const& shift,
    Tensor<M, Device> const& mean, Tensor<M, Device> const& variance, BatchNormAttributes const& options,
    bool training) {
    return batch_norm(x.device(), x, scale, shift, mean, variance, options, training);
}

/// The gradients of x, scale and shift. In training, mean and variance depend on x: with h the normalised x and g =
/// out_grad, that of x is (g - mean of g - h · mean of g · h) · scale / √(variance + epsilon), with means over the
/// rows.
/// shapes   x and out_grad [n, width]; scale, mean and variance [width] -> [n, width], [width], [width]
/// errors   as batch_norm; ShapeError if out_grad does not have the shape of x
/// cost     in training, four reads of x, otherwise two; two of out_grad, and one write
template <class T, device D, class M = T>
std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>> batch_norm_grad(
    D const& exec, Tensor<T, D> const& x, Tensor<T, D> const& scale, Tensor<M, D> const& mean,
    Tensor<M, D> const& variance, Tensor<T, D> const& out_grad, BatchNormAttributes const& options, bool training) {
    return detail::run_of<detail::backward_of<batch_norm_op>, std::tuple<Tensor<T, D>, Tensor<T, D>, Tensor<T, D>>>(
        exec, x, scale, mean, variance, out_grad, options, training);
}

}  // namespace rowan::inline v0
