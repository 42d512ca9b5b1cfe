// rowan/thrust/core/copy.hpp: to_device and to_host, copies between the host and a device.
#pragma once

#include <rowan/core/copy.hpp>
#include <rowan/thrust/core/synchronize.hpp>
#include <rowan/thrust/core/tensor.hpp>

namespace rowan::inline v0 {

/// Copies a tensor to device memory asynchronously; the source may be modified once the call has returned.
/// shapes   x [...] -> [...]
/// errors   CudaError or std::bad_alloc if memory is insufficient
/// cost     one copy of the elements; the call may wait for its end if it is more than 8 MiB, or if 32 copies of more than
///          64 KiB, or so many parts of 256 KiB, have not finished
template <detail::thrust_device D, class T>
Tensor<T, D> to_device(D const& exec, Tensor<T> const& x) {
    return Tensor<T, D>(exec, x);
}

/// Copies a tensor to host memory.
/// shapes   x [...] -> [...]
/// errors   IndexError of an earlier call or CudaError, as synchronize(exec); CudaError as Tensor::check
/// cost     one copy of the elements; waits for the work enqueued before on `exec`, or on the stream of x
template <detail::thrust_device D, class T>
Tensor<T> to_host(D const& exec, Tensor<T, D> const& x) {
    x.check(exec);
    auto host = Tensor<T>::from_shape(x.shape());
    detail::read_back(exec, {{host.data(), x.data(), x.size() * sizeof(T)}});
    return host;
}

template <class T, detail::thrust_device D>
Tensor<T> to_host(Tensor<T, D> const& x) {
    return to_host(x.device(), x);
}

/// Copies to a device on its default stream: `to_device<Cuda>(x)`.
/// errors   CudaError or std::bad_alloc if memory is insufficient
/// cost     one copy of the elements
template <detail::thrust_device D, class X>
auto to_device(X const& x) {
    return to_device(D{}, x);
}

}  // namespace rowan::inline v0
