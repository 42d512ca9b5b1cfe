// rowan/core/parallel.hpp: parallel loops, on as many threads as OpenMP offers if the program is built with it.
#pragma once

#include <rowan/core/detail/config.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace rowan::inline v0 {

namespace detail {

/// Whether this thread computes shares of a parallel call, inside of which all calls are serial.
ROWAN_SHARED inline bool& in_team() noexcept {
    thread_local bool inside = false;
    return inside;
}

}  // namespace detail

/// The number of threads that a call on `exec` may use: `exec.threads`, or OpenMP's maximum if that is 0. At most
/// OpenMP's thread limit, and at most 256 unless OpenMP's maximum is larger. 1 without OpenMP, within a parallel call,
/// and within a parallel region of OpenMP, unless OpenMP nests regions there.
/// errors   ValueError if `exec.threads` is negative
/// cost     O(1), queries of OpenMP
inline int thread_count(Cpu exec) {
    if (exec.threads < 0) throw ValueError("threads", exec.threads, "0 (all) or more");
#ifdef _OPENMP
    if (detail::in_team() || omp_get_active_level() >= omp_get_max_active_levels()) return 1;
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
/// the caller asks for a number of threads, they must have twice the work: to wake a thread takes tens of µs, as long
/// as one thread needs for 2^18 elements, and if other processes use its core, milliseconds.
inline int threads_for(Cpu exec, std::size_t elements) {
    int const threads = thread_count(exec);
    return elements < (exec.threads == 0 ? 2 * serial_below : serial_below) ? 1 : threads;
}

struct index64 {  // converts to std::size_t only, so that callbacks that take int do not compile
    template <std::same_as<std::size_t> U>
    operator U() const;
};

/// Calls share(f, k) once for each k in [0, shares), on at most `threads` threads. This thread takes one share after
/// the other, and so does each helper that comes before none is left. Helpers are threads that the process keeps: a
/// caller gets those that are free, and never waits for one that has not begun. They spin only briefly before they
/// sleep, and a forked process starts its own. They round, and flush subnormal numbers, as their caller does. Only `thread_count` depends on OpenMP: a program may compile some files
/// with OpenMP and others without, and the linker then picks one definition of each inline function.
/// requires   a process that `f` forks does not return from `f`
/// errors   the first exception of `f`, after which no share begins
/// cost     about 1 us to call a helper that still spins, 5 us for one that sleeps; a new thread for one that is
///          missing
void run_shares(int threads, std::size_t shares, void (*share)(void* f, std::size_t k), void* f);

/// Makes what helpers need, on this thread, if nothing has yet: not on a thread that helpers are not to inherit from.
void prepare_helpers();
/// Lets this thread run on all processors that helpers may run on.
void use_all_places();

/// run_shares for any callable f(k).
template <class F>
void for_each_share(int threads, std::size_t shares, F&& f) {
    run_shares(
        threads, shares, [](void* g, std::size_t k) { (*static_cast<std::remove_reference_t<F>*>(g))(k); },
        const_cast<void*>(static_cast<void const*>(std::addressof(f))));
}

/// Calls f(t) once for each t in [0, threads), on at most as many threads. No call may wait for another: one thread may
/// make all of them, one after the other.
template <class F>
void team(int threads, F&& f) {
    for_each_share(threads, static_cast<std::size_t>(threads), f);
}

}  // namespace detail

/// A callback f(begin, end) with 64-bit bounds. Generic callbacks (`auto` parameters) are accepted.
template <class F>
concept range_callback = std::invocable<F&, std::size_t, std::size_t> &&
    ((std::is_class_v<std::remove_cvref_t<F>> && !requires { &std::remove_cvref_t<F>::operator(); }) ||
     std::invocable<F&, detail::index64, detail::index64>);

/// Calls f(begin, end) on disjoint ranges that cover [0, n): ranges of size `grain`, the last may be smaller, or the
/// single range [0, n) on one thread. Ranges are scheduled dynamically. Which thread runs which range is unspecified,
/// so `f` must write only to the data of its range.
/// requires   a process that `f` forks does not return from `f`; one forked elsewhere may call this
/// errors   ValueError if `exec.threads` is negative; the exceptions of `f`, one of them if several calls throw
/// cost     one call of helpers, none for a single range or thread; the cost of `f`
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
    detail::for_each_share(static_cast<int>(threads), ranges,
                           [&](std::size_t k) { f(k * grain, k * grain + std::min(grain, n - k * grain)); });
}

namespace detail {

/// parallel_work of call(f, begin, end).
void run_work(Cpu exec, std::size_t elements, std::size_t n, std::size_t grain,
              void (*call)(void* f, std::size_t begin, std::size_t end), void* f);

/// parallel_for, on one thread if there is too little work on `elements` elements for two.
template <class F>
void parallel_work(Cpu exec, std::size_t elements, std::size_t n, std::size_t grain, F&& f) {
    static_assert(range_callback<F>, "rowan: the callback must take two std::size_t, begin and end");
    run_work(
        exec, elements, n, grain,
        [](void* g, std::size_t begin, std::size_t end) { (*static_cast<std::remove_reference_t<F>*>(g))(begin, end); },
        const_cast<void*>(static_cast<void const*>(std::addressof(f))));
}

}  // namespace detail

}  // namespace rowan::inline v0

#include <rowan/core/parallel_inl.hpp>
