// rowan/thrust/core/detail/failed_call.hpp: FailedCall, the error of an enqueued call, recorded by the device.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/core/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>

namespace rowan::inline v0::detail {

/// The first call on a stream that found a bad id, and its first bad id.
struct FailedCall {
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t call = none;
    std::uint64_t position = none;
    std::int64_t value = 0;
    std::int64_t bound = 0;
    char const* field = nullptr;  // in host memory
    unsigned lock = 0;

    bool any() const { return call != none; }
    IndexError error() const { return {field, static_cast<std::size_t>(position), value, bound}; }
};

/// Returns a call's number, greater than the numbers of all calls before it.
inline std::uint64_t next_call() {
    static std::atomic<std::uint64_t> next{0};
    return next++;
}

/// Checks the ids of a call.
struct IdCheck {
    FailedCall* failed;
    std::uint64_t call;
    std::int64_t bound;
    char const* field;

    ROWAN_HD bool good(std::int64_t id) const {
        return static_cast<std::uint64_t>(id) < static_cast<std::uint64_t>(bound);
    }

    /// Whether id is in [0, bound). If not, records it and its position, unless an earlier bad id is recorded.
    ROWAN_HD bool operator()(std::size_t position, std::int64_t id) const {
        if (good(id)) return true;
#ifdef __CUDA_ARCH__
        auto volatile* const seen = failed;
        if (!earlier(seen->call, seen->position, position)) return false;
        while (atomicCAS(&failed->lock, 0U, 1U) != 0U) __nanosleep(100);
        __threadfence();
        if (earlier(seen->call, seen->position, position)) {
            seen->call = call;
            seen->position = position;
            seen->value = id;
            seen->bound = bound;
            seen->field = field;
        }
        __threadfence();
        atomicExch(&failed->lock, 0U);
#else
        std::atomic_ref<unsigned> lock(failed->lock);
        while (lock.exchange(1, std::memory_order_acquire) != 0) std::this_thread::yield();
        if (earlier(failed->call, failed->position, position)) {
            failed->call = call;
            failed->position = position;
            failed->value = id;
            failed->bound = bound;
            failed->field = field;
        }
        lock.store(0, std::memory_order_release);
#endif
        return false;
    }

private:
    ROWAN_HD bool earlier(std::uint64_t seen_call, std::uint64_t seen_position, std::uint64_t position) const {
        return call < seen_call || (call == seen_call && position < seen_position);
    }
};

}  // namespace rowan::inline v0::detail
