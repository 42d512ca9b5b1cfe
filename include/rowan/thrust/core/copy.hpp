// rowan/thrust/core/copy.hpp: to_device and to_host, copies between the host and a device.
#pragma once

#include <rowan/thrust/core/synchronize.hpp>
#include <rowan/thrust/core/tensor.hpp>

namespace rowan::inline v0 {

/// A copy in the memory of a device, enqueued: what is copied may be changed when the call returns.
/// shapes   x [...] -> [...]
/// errors   CudaError or std::bad_alloc where there is not as much memory
/// cost     one copy of the elements
template <detail::thrust_device D, class T>
Tensor<T, D> to_device(D const& exec, Tensor<T> const& x) {
    return Tensor<T, D>(exec, x);
}

/// A copy in the memory of the host.
/// shapes   x [...] -> [...]
/// errors   those of synchronize(exec): an IndexError of a call before it, a CudaError
/// cost     one copy of the elements; waits for what was enqueued before it on `exec`, or on the stream that x was made on
template <detail::thrust_device D, class T>
Tensor<T> to_host(D const& exec, Tensor<T, D> const& x) {
    auto host = Tensor<T>::from_shape(x.shape());
    if (x.size() != 0) detail::system_of<D>::to_host(exec, host.data(), x.data(), x.size() * sizeof(T));
    synchronize(exec);
    return host;
}

template <class T, detail::thrust_device D>
Tensor<T> to_host(Tensor<T, D> const& x) {
    return to_host(x.device(), x);
}

/// Of what is there already, an alias: so that a program is written once for the processor and for devices.
/// shapes   x [...] -> [...]
/// errors   none
/// cost     O(1)
template <class T>
Tensor<T> to_host(Tensor<T> const& x) {
    return x.share();
}

/// to_device<Cuda>(x): on the device's default stream.
/// errors   as above
/// cost     as above
template <detail::thrust_device D, class X>
auto to_device(X const& x) {
    return to_device(D{}, x);
}

}  // namespace rowan::inline v0
