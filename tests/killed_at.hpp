// tests/killed_at.hpp: killed_at, a process that is killed at one of its system calls.
#pragma once

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iterator>

namespace test {

/// How a process has ended.
enum class Ended { whole, killed, failed, untraced };  ///< untraced: the system does not permit to look at its calls

/// Calls f() in a child, which is killed where it begins the n-th call, counted from 1, of those that change files.
template <class F>
Ended killed_at(std::size_t n, F const& f) {
    static constexpr long calls[]{SYS_openat, SYS_write,     SYS_pwrite64, SYS_fsync,    SYS_fdatasync, SYS_ftruncate, SYS_renameat2,
#ifdef SYS_rename
                                  SYS_rename, SYS_unlink,    SYS_link,
#endif
                                  SYS_renameat, SYS_unlinkat, SYS_linkat,  SYS_fallocate, SYS_close};
    ::pid_t const child = ::fork();
    if (child == 0) {
        if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(2);
        std::raise(SIGSTOP);
        ::alarm(60);
        try {
            f();
        } catch (std::exception const& e) {
            std::fprintf(stderr, "%s\n", e.what());
            ::_exit(1);
        }
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) return Ended::untraced;
    ::ptrace(PTRACE_SETOPTIONS, child, nullptr, reinterpret_cast<void*>(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    for (long signal = 0;;) {
        ::ptrace(PTRACE_SYSCALL, child, nullptr, reinterpret_cast<void*>(signal));
        if (::waitpid(child, &status, 0) != child) return Ended::failed;
        if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? Ended::whole : Ended::failed;
        if (WIFSIGNALED(status)) return Ended::failed;
        signal = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
        if (signal != 0) continue;
        __ptrace_syscall_info info{};
        if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, reinterpret_cast<void*>(sizeof info), &info) <= 0) {
            ::kill(child, SIGKILL);
            ::waitpid(child, &status, 0);
            return Ended::untraced;
        }
        bool const changes = info.op == PTRACE_SYSCALL_INFO_ENTRY && std::ranges::find(calls, static_cast<long>(info.entry.nr)) != std::end(calls);
        if (!changes || --n != 0) continue;
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
        return Ended::killed;
    }
}

}  // namespace test
