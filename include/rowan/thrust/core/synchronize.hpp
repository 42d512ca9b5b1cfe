// rowan/thrust/core/synchronize.hpp: synchronize, which waits for what was enqueued.
#pragma once

#include <rowan/thrust/core/detail/system.hpp>

namespace rowan::inline v0 {

/// Waits until all calls on `exec` have ended.
/// errors   IndexError of the first of them whose ids were bad; calls after it have done nothing, those from now on run again. CudaError
/// cost     waits
template <detail::thrust_device D>
void synchronize(D const& exec) {
    if (auto const failed = detail::system_of<D>::take_failed(exec); failed.any()) throw failed.error();
}

/// The same; Thrust has a synchronize for whatever can be changed, which would be found else.
template <detail::thrust_device D>
void synchronize(D& exec) {
    synchronize(static_cast<D const&>(exec));
}

}  // namespace rowan::inline v0
