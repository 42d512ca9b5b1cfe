// rowan/layer/detail/run_parts.hpp: run_parts, runs the parts of a task in parallel, each on one thread.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/blocks.hpp>
#include <rowan/core/detail/run_meter.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/graph/any_ref.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <utility>

namespace rowan::inline v0::detail {

/// Calls f(k, exec) for k in [0, parts), on the threads of `exec` if there are enough multiplications (`work`) for two.
/// If there are several parts, the exec passed to f has one thread. Rethrows the exception of the lowest k that threw,
/// after all parts have run.
inline void run_parts(Cpu exec, std::size_t parts, std::size_t work,
                      std::function<void(std::size_t, AnyExec)> const& f) {
    if (parts == 1) return f(0, exec);
    Cpu const serial{.threads = 1};
    Buffer<std::exception_ptr> errors(parts);
    FreeBlocks* const pool = current_pool();
    RunMeter* const meter = current_meter();
    parallel_work(exec, work / 8, parts, 1, [&](std::size_t begin, std::size_t end) {
        FreeBlocks* const before = std::exchange(current_pool(), pool);
        RunMeter* const meter_before = std::exchange(current_meter(), meter);
        for (std::size_t k = begin; k < end; ++k) {
            try {
                f(k, serial);
            } catch (...) {
                errors[k] = std::current_exception();
            }
        }
        current_pool() = before;
        current_meter() = meter_before;
    });
    for (auto const& error : errors) {
        if (error) std::rethrow_exception(error);
    }
}

/// The same on a device, where calls are enqueued in order.
template <class D>
void run_parts(D const& exec, std::size_t parts, std::size_t, std::function<void(std::size_t, AnyExec)> const& f) {
    for (std::size_t k = 0; k < parts; ++k) f(k, exec);
}

}  // namespace rowan::inline v0::detail
