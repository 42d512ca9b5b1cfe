// rowan/core/device.hpp: Cpu, which says where values live and how a call runs.
#pragma once

#include <rowan/fwd.hpp>

#include <type_traits>

namespace rowan::inline v0 {

/// The processor. As a template argument it says where values live; as a first argument how many threads a call may use.
/// Results do not depend on the number of threads, not even in their last bit.
struct Cpu {
    int threads = 0;  ///< 0: all that OpenMP offers (OMP_NUM_THREADS); 1 where a program is built without OpenMP
};

/// Is `D` a device tag? A device's own header specialises it.
template <class D>
inline constexpr bool is_device = std::is_same_v<D, Cpu>;

/// What stands first in calls: where tensors are, and how work on them is done.
template <class D>
concept device = is_device<D>;

}  // namespace rowan::inline v0
