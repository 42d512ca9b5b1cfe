// rowan/core/detail/process_mutex.hpp: process_mutex, a mutex that is free in a forked process.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <mutex>

#include <pthread.h>

namespace rowan::inline v0::detail {

/// The mutex of the process for uses of Of. A fork waits for it: a process that is forked while another thread has it
/// would find it locked for ever. What holds it neither forks nor waits for another of these.
/// cost     once, a registration for forks
template <class Of>
std::mutex& process_mutex() {
    static std::mutex& mutex = *[] {
        auto* const made = new std::mutex;
        ::pthread_atfork([] { process_mutex<Of>().lock(); }, [] { process_mutex<Of>().unlock(); },
                         [] { process_mutex<Of>().unlock(); });
        return made;
    }();
    return mutex;
}

}  // namespace rowan::inline v0::detail
