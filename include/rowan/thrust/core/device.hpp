// rowan/thrust/core/device.hpp: ThrustDevice<System>, a device on which Thrust runs rowan's algorithms.
#pragma once

#include <rowan/core/device.hpp>

#if !__has_include(<thrust/version.h>)
#error "rowan/thrust needs Thrust (Debian: libthrust-dev; the CUDA toolkit has its own)"
#endif

namespace rowan::inline v0 {

/// A Thrust system: where values are stored and where a call runs. `Cuda`, in rowan/thrust/cuda.hpp, is a GPU with a
/// stream. `ThrustDevice<thrust::omp::tag>` and those of cpp and tbb run the same code in host memory.
///
/// Calls are asynchronous unless the host needs a value or a data-dependent size; such a call waits. Errors that the
/// host can detect, such as mismatched shapes, are thrown immediately. Ids in device memory are checked on the
/// device: the next synchronize(exec) or copy to the host throws the IndexError of a bad id. Until then, the failed
/// call and those enqueued after it leave existing tensors unchanged, as if the call had thrown; tensors that they
/// return have unspecified contents and must be discarded. Only one host thread at a time may use a stream. A call
/// without an execution argument runs on the device and stream on which its first tensor was created.
template <class System>
struct ThrustDevice {
    /// The execution policy for Thrust.
    friend System thrust_policy(ThrustDevice const&) { return {}; }
    friend bool operator==(ThrustDevice const&, ThrustDevice const&) = default;
};

/// ThrustDevice is a device.
template <class System>
inline constexpr bool is_device<ThrustDevice<System>> = true;

}  // namespace rowan::inline v0
