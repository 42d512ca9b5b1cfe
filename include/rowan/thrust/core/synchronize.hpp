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
    if (auto const failed = detail::system_of<D>::take_failed(exec); failed.any()) throw failed.error();
}

/// The same for a non-const `exec`, for which Thrust's own synchronize, found by argument-dependent lookup, would be a
/// better match.
template <detail::thrust_device D>
void synchronize(D& exec) {
    synchronize(static_cast<D const&>(exec));
}

}  // namespace rowan::inline v0
