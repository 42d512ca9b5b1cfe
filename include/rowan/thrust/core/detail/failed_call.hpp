// rowan/thrust/core/detail/failed_call.hpp: the error of a call that has been enqueued, kept where the device can write it.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/core/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>

namespace rowan::inline v0::detail {

/// The first call of a stream that met a bad id, and the first of its bad ids.
struct FailedCall {
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t call = none;
    std::uint64_t position = none;
    std::int64_t value = 0;
    std::int64_t bound = 0;
    char const* field = nullptr;  // in the host's memory
    unsigned lock = 0;

    bool any() const { return call != none; }
    IndexError error() const { return {field, static_cast<std::size_t>(position), value, bound}; }
};

/// Every call has a number, greater than those of the calls before it.
inline std::uint64_t next_call() {
    static std::atomic<std::uint64_t> next{0};
    return next++;
}

/// The check of a call's ids.
struct IdCheck {
    FailedCall* failed;
    std::uint64_t call;
    std::int64_t bound;
    char const* field;

    ROWAN_HD bool good(std::int64_t id) const {
        return static_cast<std::uint64_t>(id) < static_cast<std::uint64_t>(bound);
    }

    /// Is id, which stands at `position`, in [0, bound)? If not, that is kept: of several the first.
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
