// rowan/thrust/core/detail/failed_call.hpp: FailedCall, the error of an enqueued call, recorded by the device.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/core/detail/number_range.hpp>
#include <rowan/core/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>

namespace rowan::inline v0::detail {

/// The first call on a stream that found a bad id or number, and the first one that it found.
struct FailedCall {
    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t call = none;
    std::uint64_t position = none;
    std::int64_t value = 0;
    std::int64_t bound = 0;
    double number = 0;
    char const* field = nullptr;     // in host memory
    char const* expected = nullptr;  // the same, of a number; nullptr: it was an id
    unsigned lock = 0;

    bool any() const { return call != none; }
    [[noreturn]] void raise() const {
        if (expected == nullptr) throw IndexError(field, static_cast<std::size_t>(position), value, bound);
        throw ValueError({field, "[", position, "]"}, number, expected);
    }

    ROWAN_HD bool is_before(std::uint64_t other, std::uint64_t at) const {
        return call < other || (call == other && position < at);
    }
    /// Records what a call found, unless an earlier one is recorded.
    ROWAN_HD void record(FailedCall const& found) {
#ifdef __CUDA_ARCH__
        auto volatile* const seen = this;
        if (!found.is_before(seen->call, seen->position)) return;
        while (atomicCAS(&lock, 0U, 1U) != 0U) __nanosleep(100);
        __threadfence();
        if (found.is_before(seen->call, seen->position)) {
            seen->call = found.call;
            seen->position = found.position;
            seen->value = found.value;
            seen->bound = found.bound;
            seen->number = found.number;
            seen->field = found.field;
            seen->expected = found.expected;
        }
        __threadfence();
        atomicExch(&lock, 0U);
#else
        std::atomic_ref<unsigned> held(lock);
        while (held.exchange(1, std::memory_order_acquire) != 0) std::this_thread::yield();
        if (found.is_before(call, position)) {
            call = found.call;
            position = found.position;
            value = found.value;
            bound = found.bound;
            number = found.number;
            field = found.field;
            expected = found.expected;
        }
        held.store(0, std::memory_order_release);
#endif
    }
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
        failed->record({.call = call, .position = position, .value = id, .bound = bound, .field = field});
        return false;
    }
};

/// Checks the numbers of a call.
struct NumberCheck {
    FailedCall* failed;
    std::uint64_t call;
    NumberRange range;
    char const* field;

    /// Records a number that is not in the range, unless an earlier one is recorded.
    ROWAN_HD void operator()(std::size_t position, double number) const {
        if (range.has(number)) return;
        failed->record(
            {.call = call, .position = position, .number = number, .field = field, .expected = range.expected});
    }
};

}  // namespace rowan::inline v0::detail
