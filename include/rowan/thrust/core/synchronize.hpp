// rowan/thrust/core/synchronize.hpp: synchronize, which waits for enqueued calls.
#pragma once

#include <rowan/thrust/core/detail/system.hpp>

namespace rowan::inline v0 {

/// Waits until all calls on `exec` have finished.
/// errors   IndexError of the first call with a bad id: later calls left existing tensors unchanged, calls after this
///          one run normally; CudaError
/// cost     blocks the host
template <detail::thrust_device D>
void synchronize(D const& exec) {
    detail::read_back(exec, {});
}

/// Waits until all calls on a non-const `exec` have finished. Without this overload, argument-dependent lookup would
/// choose Thrust's own synchronize.
/// errors   those of synchronize for a const exec
/// cost     blocks the host
template <detail::thrust_device D>
void synchronize(D& exec) {
    synchronize(static_cast<D const&>(exec));
}

}  // namespace rowan::inline v0
