// rowan/core/parallel.hpp: loops over several threads, through OpenMP where a program is built with it.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <type_traits>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace rowan::inline v0 {

/// How many threads a call on `exec` may use: at most 256, unless OpenMP itself offers more.
/// errors   ValueError if `exec.threads` is negative
/// cost     one question to OpenMP
inline int thread_count(Cpu exec) {
    if (exec.threads < 0) throw ValueError("threads", exec.threads, "0 (all) or more");
#ifdef _OPENMP
    int const all = omp_get_max_threads();
    return std::min({exec.threads > 0 ? exec.threads : all, std::max(all, 256), omp_get_thread_limit()});
#else
    return 1;
#endif
}

namespace detail {

/// Below this many elements a second thread costs more than it brings.
inline constexpr std::size_t serial_below = std::size_t{1} << 18;

/// The threads for work on `elements`. Refuses a negative number of them even where one is enough.
inline int threads_for(Cpu exec, std::size_t elements) {
    int const threads = thread_count(exec);
    return elements < serial_below ? 1 : threads;
}

struct index64 {  // converts to std::size_t only, so that a callback that takes int is refused
    template <std::same_as<std::size_t> U>
    operator U() const;
};

/// Calls f(thread, threads) once on each thread of a team of at most `threads`. The first exception reaches the caller.
template <class F>
void team(int threads, F&& f) {
#ifdef _OPENMP
    if (threads > 1) {
        std::exception_ptr error;
        std::atomic_flag caught;
#pragma omp parallel num_threads(threads)
        try {
            f(omp_get_thread_num(), omp_get_num_threads());
        } catch (...) {
            if (!caught.test_and_set()) error = std::current_exception();
        }
        if (error) std::rethrow_exception(error);
        return;
    }
#endif
    static_cast<void>(threads);
    f(0, 1);
}

/// Where the threads of a team wait for each other. It is not OpenMP's: of a program's files some may be compiled with OpenMP and others
/// without, and the linker then takes each function from whichever it likes. Only `thread_count` and `team` differ between them; any of
/// the one goes with any of the other, as callers go by the team that they get.
/// requires   that nothing is thrown before a thread's last wait: the others would wait for ever
class TeamBarrier {
public:
    /// Waits for the whole team of `threads`; every one of them must come here.
    void wait(int threads) {
        unsigned const phase = phase_.load(std::memory_order_relaxed);  // it stays until this thread has arrived
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
            arrived_.store(0, std::memory_order_relaxed);
            phase_.store(phase + 1, std::memory_order_release);
            phase_.notify_all();
            return;
        }
        for (int i = 0; i < 10'000; ++i) {  // the others are often near, and sleeping is slow
            if (phase_.load(std::memory_order_acquire) != phase) return;
        }
        phase_.wait(phase, std::memory_order_acquire);
    }

private:
    std::atomic<int> arrived_{0};
    std::atomic<unsigned> phase_{0};
};

}  // namespace detail

/// A callback f(begin, end) with 64-bit bounds; one of `auto` parameters takes them as they come.
template <class F>
concept range_callback = std::invocable<F&, std::size_t, std::size_t> &&
    ((std::is_class_v<std::remove_cvref_t<F>> && !requires { &std::remove_cvref_t<F>::operator(); }) ||
     std::invocable<F&, detail::index64, detail::index64>);

/// Calls f(begin, end) on ranges that together are [0, n): of `grain` each but the last, or one range on one thread. Threads take the
/// next range when they are free. Which thread runs which range is not defined, so `f` must write only what belongs to its range.
/// errors   what `f` throws, one exception of those thrown
/// cost     one team of threads, none where one range or one thread is enough; what `f` costs
template <class F>
void parallel_for(Cpu exec, std::size_t n, std::size_t grain, F&& f) {
    static_assert(range_callback<F>, "rowan::parallel_for: the callback must take two std::size_t, begin and end");
    grain = std::max<std::size_t>(grain, 1);
    std::size_t const ranges = n / grain + (n % grain != 0);
    std::size_t const threads = std::min(static_cast<std::size_t>(thread_count(exec)), ranges);
    if (n == 0) return;
    if (threads <= 1) {
        f(std::size_t{0}, n);
        return;
    }
    std::atomic<std::size_t> next{0};
    detail::team(static_cast<int>(threads), [&](int, int) {
        for (std::size_t k = next++; k < ranges; k = next++) f(k * grain, k * grain + std::min(grain, n - k * grain));
    });
}

}  // namespace rowan::inline v0
