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

/// Waits for the whole team of `threads`; every one of them must come here.
inline void team_barrier(int threads) {
    if (threads == 1) return;  // no team was made: a barrier would wait for the caller's own
#ifdef _OPENMP
#pragma omp barrier
#endif
}

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
