// rowan/core/copy.hpp: to_host, to_device and synchronize on the host, for code that is generic over devices.
#pragma once

#include <rowan/core/tensor.hpp>

namespace rowan::inline v0 {

/// Returns a tensor on the host. On a device, `to_device` copies it there.
/// shapes   x [...] -> [...]
/// errors   none
/// cost     O(1)
template <class T>
Tensor<T> to_device(Cpu const&, Tensor<T> x) {
    return x;
}

/// Returns an alias of a tensor that is in host memory already. On a device, `to_host` copies it.
/// shapes   x [...] -> [...]
/// errors   none
/// cost     O(1)
template <class T>
Tensor<T> to_host(Tensor<T> const& x) {
    return x.share();
}
template <class T>
Tensor<T> to_host(Cpu const&, Tensor<T> const& x) {
    return x.share();
}

/// Does nothing: calls on the host have finished when they return.
/// errors   none
/// cost     none
inline void synchronize(Cpu const&) {}

}  // namespace rowan::inline v0
