// tests/sanitizers.hpp: the sanitizers that a test is compiled with.
#pragma once

namespace sanitizers {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESTS_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define TESTS_THREAD_SANITIZER
#endif
#endif

#if defined(TESTS_ADDRESS_SANITIZER) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool address = true;
#else
inline constexpr bool address = false;
#endif

#if defined(TESTS_THREAD_SANITIZER) || defined(__SANITIZE_THREAD__)
inline constexpr bool thread = true;
#else
inline constexpr bool thread = false;
#endif

/// Whether one of them is there: tests then take many times as long, and the memory of the process is also theirs.
inline constexpr bool any = address || thread;

}  // namespace sanitizers
