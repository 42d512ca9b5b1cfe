// rowan/layer/detail/run_parts.hpp: run_parts, runs the parts of a task in parallel, each on one thread.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/graph/any_ref.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>

namespace rowan::inline v0::detail {

/// Calls f(k, exec) for k in [0, parts), on the threads of `exec` if there are enough multiplications (`work`) for two.
/// If there are several parts, the exec passed to f has one thread. Rethrows the exception of the lowest k that threw,
/// after all parts have run.
ROWAN_IF_CALLED void run_parts(Cpu exec, std::size_t parts, std::size_t work,
                               std::function<void(std::size_t, AnyExec)> const& f);

/// The same on a device, where calls are enqueued in order.
template <class D>
requires(!std::is_same_v<D, Cpu>) void run_parts(D const& exec, std::size_t parts, std::size_t,
                                                 std::function<void(std::size_t, AnyExec)> const& f) {
    for (std::size_t k = 0; k < parts; ++k) f(k, exec);
}

}  // namespace rowan::inline v0::detail

#include <rowan/layer/detail/run_parts_inl.hpp>
