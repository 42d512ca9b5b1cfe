// tests/process_memory.hpp: the memory that a process has, and limits of it.
#pragma once

#include <cstddef>
#include <fstream>
#include <new>

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "sanitizers.hpp"

namespace process_memory {

#ifdef __linux__
inline constexpr bool measurable = !sanitizers::any;
#else
inline constexpr bool measurable = false;
#endif

/// In bytes: addresses, resident pages, and pages that the process may write.
struct Memory {
    std::size_t addresses = 0, resident = 0, writable = 0;

    Memory() {
#ifdef __linux__
        std::size_t shared = 0, text = 0, library = 0;
        std::ifstream("/proc/self/statm") >> addresses >> resident >> shared >> text >> library >> writable;
        auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        addresses *= page, resident *= page, writable *= page;
#endif
    }
};

#ifdef __linux__
/// Limits RLIMIT_AS and so on for the process and those that it starts.
inline bool limit(decltype(RLIMIT_AS) what, std::size_t bytes) {
    ::rlimit const limits{bytes, RLIM_INFINITY};
    return ::setrlimit(what, &limits) == 0;
}
#endif

template <class F>
bool out_of_memory(F const& f) {
    try {
        f();
    } catch (std::bad_alloc const&) {
        return true;
    }
    return false;
}

}  // namespace process_memory
