// rowan/core/detail/run_meter.hpp: RunMeter, which counts what a run of a net allocates and how often its loops iterate.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// Counts the memory and the iterations of a run, on all threads that share it, and throws when they exceed a limit.
class RunMeter {
public:
    RunMeter(std::int64_t most_iterations, std::int64_t most_bytes)
        : most_iterations_(most_iterations), most_bytes_(most_bytes) {}

    /// errors   ValueError if it is too much
    void allocate(std::int64_t bytes) {
        if (bytes > most_bytes_ || (bytes_ += bytes) > most_bytes_) too_much_memory(bytes);
    }
    void release(std::int64_t bytes) noexcept { bytes_ -= bytes; }

    /// errors   ValueError if it is one too many
    void iterate(std::int64_t n) {
        if ((iterations_ += n) > most_iterations_) too_many_iterations();
    }

private:
    [[noreturn]] void too_much_memory(std::int64_t bytes);
    [[noreturn]] void too_many_iterations() const;

    std::int64_t most_iterations_, most_bytes_;
    std::atomic<std::int64_t> iterations_ = 0, bytes_ = 0;
};

/// The meter of the run on this thread, or nullptr if it has no limits.
ROWAN_SHARED inline RunMeter*& current_meter() noexcept {
    thread_local RunMeter* meter = nullptr;
    return meter;
}

/// Counts iterations of a loop, or steps, of the run.
/// errors   ValueError if it is one too many
inline void count_iterations(std::size_t n) {
    if (auto* const meter = current_meter(); meter != nullptr) meter->iterate(static_cast<std::int64_t>(n));
}

}  // namespace rowan::inline v0::detail

#include <rowan/core/detail/run_meter_inl.hpp>
