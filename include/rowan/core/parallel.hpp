// rowan/core/parallel.hpp: parallel loops, with OpenMP if the program is built with it.
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

/// The number of threads that a call on `exec` may use: `exec.threads`, or OpenMP's maximum if that is 0. At most
/// OpenMP's thread limit, and at most 256 unless OpenMP's maximum is larger. 1 without OpenMP.
/// errors   ValueError if `exec.threads` is negative
/// cost     O(1), queries of OpenMP
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

/// Below this many elements, a second thread costs more than it saves.
inline constexpr std::size_t serial_below = std::size_t{1} << 18;

/// The number of threads for work on `elements` elements. Validates exec.threads even if one thread is enough. Unless
/// the caller asks for a number of threads, they must have twice the work: to wake a thread takes tens of µs, as long as
/// one thread needs for 2^18 elements, and if other processes use its core, milliseconds.
inline int threads_for(Cpu exec, std::size_t elements) {
    int const threads = thread_count(exec);
    return elements < (exec.threads == 0 ? 2 * serial_below : serial_below) ? 1 : threads;
}

struct index64 {  // converts to std::size_t only, so that callbacks that take int do not compile
    template <std::same_as<std::size_t> U>
    operator U() const;
};

/// Calls f(thread, team size) once on each thread of a team of at most `threads`. Rethrows the first exception of f.
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

/// A barrier for the threads of a team. It does not use OpenMP: a program may compile some files with OpenMP and others
/// without, and the linker then picks one definition of each inline function. Only `thread_count` and `team` depend on
/// OpenMP, and any combination of their definitions works, because callers use the team size that they are passed.
/// requires   no thread throws before its last wait, otherwise the other threads wait forever
class TeamBarrier {
public:
    /// Waits until all `threads` threads of the team have called it.
    void wait(int threads) {
        unsigned const phase = phase_.load(std::memory_order_relaxed);  // unchanged until this thread has arrived
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
            arrived_.store(0, std::memory_order_relaxed);
            phase_.store(phase + 1, std::memory_order_release);
            phase_.notify_all();
            return;
        }
        for (int i = 0; i < 10'000; ++i) {  // spin first: the wait is often short, and sleeping is slow
            if (phase_.load(std::memory_order_acquire) != phase) return;
        }
        phase_.wait(phase, std::memory_order_acquire);
    }

private:
    std::atomic<int> arrived_{0};
    std::atomic<unsigned> phase_{0};
};

}  // namespace detail

/// A callback f(begin, end) with 64-bit bounds. Generic callbacks (`auto` parameters) are accepted.
template <class F>
concept range_callback = std::invocable<F&, std::size_t, std::size_t> &&
    ((std::is_class_v<std::remove_cvref_t<F>> && !requires { &std::remove_cvref_t<F>::operator(); }) ||
     std::invocable<F&, detail::index64, detail::index64>);

/// Calls f(begin, end) on disjoint ranges that cover [0, n): ranges of size `grain`, the last may be smaller, or the
/// single range [0, n) on one thread. Ranges are scheduled dynamically. Which thread runs which range is unspecified,
/// so `f` must write only to the data of its range.
/// errors   ValueError if `exec.threads` is negative; the exceptions of `f`, one of them if several calls throw
/// cost     one team of threads, none for a single range or thread; the cost of `f`
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

namespace detail {

/// parallel_for, on one thread if there is too little work on `elements` elements for two.
template <class F>
void parallel_work(Cpu exec, std::size_t elements, std::size_t n, std::size_t grain, F&& f) {
    parallel_for(exec, n, threads_for(exec, elements) == 1 ? n : grain, f);
}

}  // namespace detail

}  // namespace rowan::inline v0
