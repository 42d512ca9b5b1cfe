// rowan/thrust/sequence/lod_tensor.hpp: LoDTensor<T, ThrustDevice<System>>, and its copies from and to a device.
#pragma once

#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/thrust/core/copy.hpp>
#include <rowan/thrust/sequence/detail/row_copies.hpp>

namespace rowan::inline v0 {

/// Copies a batch with levels to device memory asynchronously; the Lod, which stays on the host, is shared.
/// shapes   x [n, ...] with levels -> the same
/// errors   those of to_device for a tensor; LodError if the Lod does not fit the rows
/// cost     one copy of the elements
template <detail::thrust_device D, class T>
LoDTensor<T, D> to_device(D const& exec, LoDTensor<T> const& x) {
    x.check();
    return {to_device(exec, x.value()), x.lod()};
}
/// Copies a batch with levels to host memory; the Lod is shared.
/// shapes   x [n, ...] with levels -> the same
/// errors   those of to_host for a tensor; LodError if the Lod does not fit the rows
/// cost     one copy of the elements; waits for the work enqueued before
template <detail::thrust_device D, class T>
LoDTensor<T> to_host(D const& exec, LoDTensor<T, D> const& x) {
    x.check();
    return {to_host(exec, x.value()), x.lod()};
}
template <class T, detail::thrust_device D>
LoDTensor<T> to_host(LoDTensor<T, D> const& x) {
    return to_host(x.value().device(), x);
}
template <class T>
LoDTensor<T> to_host(LoDTensor<T> const& x) {
    return x.share();
}

}  // namespace rowan::inline v0
