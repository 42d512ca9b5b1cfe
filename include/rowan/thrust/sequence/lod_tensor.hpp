// rowan/thrust/sequence/lod_tensor.hpp: LoDTensor<T, ThrustDevice<System>>, and its copies from and to a device.
#pragma once

#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/thrust/core/copy.hpp>
#include <rowan/thrust/sequence/detail/row_copies.hpp>

namespace rowan::inline v0 {

/// The same for a batch with levels; the Lod is shared.
template <detail::thrust_device D, class T>
LoDTensor<T, D> to_device(D const& exec, LoDTensor<T> const& x) {
    x.check();
    return {to_device(exec, x.value()), x.lod()};
}
/// The same for a batch with levels; the Lod is shared.
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
