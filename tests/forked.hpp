// tests/forked.hpp: what a forked process finds.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sanitizers.hpp"

namespace forked {

inline int status(::pid_t child) {
    int status = -1;
    return ::waitpid(child, &status, 0) == child ? status : -1;
}

/// Whether f() returns true within 20 seconds in a forked process.
template <class F>
bool succeeds(F const& f) {
    if (sanitizers::thread) return true;  // it ends forked processes that start threads
    ::pid_t const child = ::fork();
    if (child == 0) {
        ::alarm(20);
        ::_exit(f() ? 0 : 1);
    }
    return status(child) == 0;
}

/// The same where other threads allocate memory while the process forks.
template <class F>
bool succeeds_beside_threads(F const& f) {
    return sanitizers::address || succeeds(f);  // that of clang 16 forks with a locked allocator
}

}  // namespace forked
