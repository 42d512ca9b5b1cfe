// rowan/layer/detail/run_parts_inl.hpp: definitions of rowan/layer/detail/run_parts.hpp.
#pragma once

#include <rowan/layer/detail/run_parts.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/allocator.hpp>
#include <rowan/core/detail/blocks.hpp>
#include <rowan/core/detail/run_meter.hpp>
#include <rowan/core/parallel.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION void run_parts(Cpu exec, std::size_t parts, std::size_t work,
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

}  // namespace rowan::inline v0::detail

#endif
