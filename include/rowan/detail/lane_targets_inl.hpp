// rowan/detail/lane_targets_inl.hpp: definitions of rowan/detail/lane_targets.hpp.
#pragma once

#include <rowan/detail/lane_targets.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <cstdlib>
#include <string_view>

namespace rowan::inline v0::detail {

#ifdef __x86_64__
ROWAN_FUNCTION std::size_t find_register_bytes() {
    __builtin_cpu_init();
    std::size_t bytes = 16;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
        bytes = 32;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl"))
            bytes = 64;
    }
    if (char const* const asked = std::getenv("ROWAN_REGISTER_BYTES")) {
        std::string_view const most = asked;
        bytes = most == "16" ? 16 : most == "32" && bytes > 32 ? 32 : bytes;
    }
    known_register_bytes.store(bytes, std::memory_order_relaxed);
    return bytes;
}
#endif

}  // namespace rowan::inline v0::detail
#endif
