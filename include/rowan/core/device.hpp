// rowan/core/device.hpp: Cpu, the device tag that states where values are stored and how a call runs.
#pragma once

#include <rowan/fwd.hpp>

#include <type_traits>

namespace rowan::inline v0 {

/// The host. As a template argument: values are stored in host memory. As a first argument: the number of threads of a
/// call. Results are bit-identical for any number of threads.
struct Cpu {
    int threads = 0;  ///< 0: OpenMP's maximum (OMP_NUM_THREADS); without OpenMP always one thread

    friend bool operator==(Cpu const&, Cpu const&) = default;
};

/// Whether `D` is a device tag. The header of each device specialises it.
template <class D>
inline constexpr bool is_device = std::is_same_v<D, Cpu>;

/// The type of the first argument of calls: where tensors are stored, and how the call runs.
template <class D>
concept device = is_device<D>;

namespace detail {

/// False for every device: a general definition of a backend asserts it to name the header that has the backend.
template <class D>
inline constexpr bool has_backend = false;

}  // namespace detail

}  // namespace rowan::inline v0
