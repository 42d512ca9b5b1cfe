// rowan/thrust/core/device.hpp: ThrustDevice<System>, what Thrust runs rowan's algorithms on.
#pragma once

#include <rowan/core/device.hpp>

#if !__has_include(<thrust/version.h>)
#error "rowan/thrust needs Thrust (Debian: libthrust-dev; the CUDA toolkit has its own)"
#endif

namespace rowan::inline v0 {

/// One of Thrust's systems: where values live and where a call runs. `Cuda`, in rowan/thrust/cuda.hpp, is the one on a GPU and has a
/// stream; `ThrustDevice<thrust::omp::tag>` and those of cpp and tbb compute the same bits in the memory of the host.
///
/// Calls are enqueued and not waited for, but those whose result's size depends on the data, which wait once. What can be known at once,
/// such as shapes, is refused at once. Ids in the device's memory are looked at there: the error of a bad one is thrown by the next
/// synchronize(exec) or copy to the host. What was enqueued after such a call changes nothing that was there before, as if the call had
/// thrown, until then; what it should have made is of no use and to be thrown away. A stream is one host thread's at a time, and a call
/// without an execution runs on the default stream.
template <class System>
struct ThrustDevice {
    /// How Thrust is told.
    friend System thrust_policy(ThrustDevice const&) { return {}; }
    friend bool operator==(ThrustDevice const&, ThrustDevice const&) = default;
};

/// Every ThrustDevice is one.
template <class System>
inline constexpr bool is_device<ThrustDevice<System>> = true;

}  // namespace rowan::inline v0
