// rowan/core/detail/float_control.hpp: how a thread rounds, which helpers take from their caller.
#pragma once

#include <rowan/version.hpp>

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace rowan::inline v0::detail {

/// The rounding of a thread, what it does with subnormal numbers, and which exceptions trap; no flags of what happened.
struct FloatControl {
    std::uint64_t word;

    /// That of this thread.
    static FloatControl get() noexcept {
#if defined(__SSE__)
        return {_mm_getcsr() & ~0x3FU};  // without the flags
#elif defined(__aarch64__)
        std::uint64_t word = 0;
        asm volatile("mrs %0, fpcr" : "=r"(word));
        return {word};
#else
        return {static_cast<std::uint64_t>(std::fegetround())};
#endif
    }

    /// Gives it to this thread, if its own differs.
    void set() const noexcept {
        if (get().word == word) return;
#if defined(__SSE__)
        _mm_setcsr(static_cast<unsigned>(word));
#elif defined(__aarch64__)
        asm volatile("msr fpcr, %0" : : "r"(word));
#else
        std::fesetround(static_cast<int>(word));
#endif
    }
};

}  // namespace rowan::inline v0::detail
