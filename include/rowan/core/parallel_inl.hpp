// rowan/core/parallel_inl.hpp: definitions of rowan/core/parallel.hpp.
#pragma once

#include <rowan/core/parallel.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/float_control.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace rowan::inline v0::detail {

/// A parallel call. Threads take its shares in turn.
struct SharedCall {
    std::size_t shares;
    void (*share)(void*, std::size_t);
    void* f;
    FloatControl control = FloatControl::get();  // the caller's
    std::atomic<std::size_t> next{0};
    std::atomic_flag failed{};
    std::exception_ptr error{};

    void work() noexcept {
        try {
            for (std::size_t k = next++; k < shares; k = next++) share(f, k);
        } catch (...) {
            next = shares;
            if (!failed.test_and_set()) error = std::current_exception();
        }
    }
};

/// A thread that works for parallel calls, and sleeps between them.
struct Helper {
    enum State : int { free, called, working };

    std::atomic<int> state{free};
    SharedCall* call = nullptr;
    bool started = false;
    Helper* next = nullptr;     // in a list of free or called helpers
    Helper* earlier = nullptr;  // in the list of all
};

/// Whether this thread had to leave its core for another thread lately. Such a host is busy, and spinning makes it
/// busier.
inline bool host_is_busy() noexcept {
#ifdef RUSAGE_THREAD
    struct Seen {
        long switches = 0;
        int rest = 0;
    };
    thread_local Seen seen;
    ::rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    if (std::exchange(seen.switches, usage.ru_nivcsw) != usage.ru_nivcsw) seen.rest = 64;  // waits without a spin
    return seen.rest > 0 && seen.rest-- > 0;
#else
    return true;
#endif
}

/// Waits while the state is `value`: spins for at most 100 us, since calls often follow each other, and then sleeps.
inline void wait_while(std::atomic<int> const& state, int value) noexcept {
    auto const now = [] {
        ::timespec t{};
        ::clock_gettime(CLOCK_MONOTONIC, &t);
        return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    };
    if (state.load(std::memory_order_acquire) != value) return;
    if (!host_is_busy()) {
        for (std::int64_t const end = now() + 100'000; now() < end;) {
            for (int i = 0; i < 16; ++i) {
                if (state.load(std::memory_order_acquire) != value) return;
#if defined(__x86_64__) || defined(__i386__)
                __builtin_ia32_pause();
#endif
            }
        }
    }
    state.wait(value, std::memory_order_acquire);
}

#ifdef __linux__
/// The processors of OpenMP's places if it binds threads, otherwise none.
inline ::cpu_set_t all_places() noexcept {
    ::cpu_set_t all;
    CPU_ZERO(&all);
#ifdef _OPENMP
    if (::omp_get_proc_bind() == omp_proc_bind_false) return all;
    for (int place = 0; place < ::omp_get_num_places(); ++place) {
        auto const n = static_cast<std::size_t>(::omp_get_place_num_procs(place));
        std::unique_ptr<int[]> const ids(new (std::nothrow) int[n]);
        if (ids == nullptr) {
            CPU_ZERO(&all);
            break;
        }
        ::omp_get_place_proc_ids(place, ids.get());
        for (std::size_t i = 0; i < n; ++i) {
            if (ids[i] < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(ids[i]), &all);
        }
    }
#endif
    return all;
}
#endif

/// The helpers of the process. They are never destroyed: threads use them until the process ends.
class Helpers {
public:
    /// Calls up to `most` helpers, and starts threads for those that are missing, but no more than this call or the
    /// processors can use. Returns those called, in a list.
    Helper* call(SharedCall& shared, int most) noexcept {
        std::scoped_lock const lock(mutex_);
        Helper* list = nullptr;
        for (int i = 0; i < most; ++i) {
            Helper* const helper = take(most);
            if (helper == nullptr) break;
            helper->call = &shared;
            helper->state.store(Helper::called, std::memory_order_release);
            if (!helper->started && !start(helper)) {
                helper->state.store(Helper::free, std::memory_order_relaxed);
                put(helper);
                break;
            }
            helper->state.notify_one();
            helper->next = std::exchange(list, helper);
        }
        return list;
    }

    /// Waits until the helpers that have begun are done, and sends the others back.
    void dismiss(Helper* list) noexcept {
        for (Helper* helper = list; helper != nullptr; helper = helper->next) {
            int state = Helper::called;
            if (!helper->state.compare_exchange_strong(state, Helper::free, std::memory_order_acq_rel)) {
                wait_while(helper->state, Helper::working);
            }
        }
        std::scoped_lock const lock(mutex_);
        while (list != nullptr) put(std::exchange(list, list->next));
    }

    /// The number of forks between the first process and this one.
    int forks() const noexcept { return forks_; }

    /// Lets this thread run on all processors of OpenMP's places. OMP_PROC_BIND and its like bind the process's first
    /// thread to one of them, and a thread begins with the processors of the one that starts it. Helpers do not call
    /// OpenMP: it may end with the process before a helper begins.
    void use_all_places() const noexcept {
#ifdef __linux__
        if (CPU_COUNT(&places_) != 0) ::sched_setaffinity(0, sizeof places_, &places_);
#endif
    }

    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

    /// In a forked process, which has none of the threads.
    void forked() {
        ++forks_;
        free_ = nullptr;
        for (Helper* helper = all_; helper != nullptr; helper = helper->earlier) {
            helper->started = false;
            helper->state.store(Helper::free, std::memory_order_relaxed);
            put(helper);
        }
        mutex_.unlock();
    }

private:
    Helper* take(int most) noexcept {
        if (free_ != nullptr) return std::exchange(free_, free_->next);
        if (count_ >= std::max<long>(most, processors_)) return nullptr;
        auto* const helper = new (std::nothrow) Helper;
        if (helper == nullptr) return nullptr;
        ++count_;
        helper->earlier = std::exchange(all_, helper);
        return helper;
    }

    void put(Helper* helper) noexcept { helper->next = std::exchange(free_, helper); }

    static bool start(Helper* helper) noexcept {
        ::pthread_t thread{};
        helper->started = ::pthread_create(&thread, nullptr, &run, helper) == 0;
        if (helper->started) ::pthread_detach(thread);
        return helper->started;
    }

    static void* run(void* argument);

    std::mutex mutex_;
    Helper* free_ = nullptr;
    Helper* all_ = nullptr;
    long count_ = 0;
    long processors_ = ::sysconf(_SC_NPROCESSORS_ONLN);
    int forks_ = 0;
#ifdef __linux__
    ::cpu_set_t const places_ = all_places();
#endif
};

inline Helpers& process_helpers() {
    static Helpers& helpers = *[] {
        auto* const made = new Helpers;
        ::pthread_atfork([] { process_helpers().lock(); }, [] { process_helpers().unlock(); },
                         [] { process_helpers().forked(); });
        return made;
    }();
    return helpers;
}

inline void* Helpers::run(void* argument) {
    struct Loaded {
        ~Loaded() {}
    };
    thread_local Loaded loaded;  // its destructor keeps a shared library with this code from being unloaded
    static_cast<void>(&loaded);
    auto& me = *static_cast<Helper*>(argument);
    int const forks = process_helpers().forks();
    process_helpers().use_all_places();
    in_team() = true;
    for (;;) {
        wait_while(me.state, Helper::free);
        int state = Helper::called;
        if (!me.state.compare_exchange_strong(state, Helper::working, std::memory_order_acq_rel)) continue;
        me.call->control.set();  // the last caller's, until then
        me.call->work();
        if (process_helpers().forks() != forks)
            std::terminate();  // f forked here and returned: its caller is not in this process
        me.state.store(Helper::free, std::memory_order_release);
        me.state.notify_one();
    }
}

ROWAN_FUNCTION void run_work(Cpu exec, std::size_t elements, std::size_t n, std::size_t grain,
                             void (*call)(void*, std::size_t, std::size_t), void* f) {
    parallel_for(exec, n, threads_for(exec, elements) == 1 ? n : grain,
                 [=](std::size_t begin, std::size_t end) { call(f, begin, end); });
}

ROWAN_FUNCTION void prepare_helpers() { process_helpers(); }
ROWAN_FUNCTION void use_all_places() { process_helpers().use_all_places(); }

ROWAN_FUNCTION void run_shares(int threads, std::size_t shares, void (*share)(void*, std::size_t), void* f) {
    std::size_t const most = std::min(static_cast<std::size_t>(std::max(threads, 1)), shares);
    if (most <= 1 || in_team()) {
        for (std::size_t k = 0; k < shares; ++k) share(f, k);
        return;
    }
    auto& helpers = process_helpers();
    int const forks = helpers.forks();
    SharedCall call{shares, share, f};
    in_team() = true;
    Helper* const called = helpers.call(call, static_cast<int>(most) - 1);
    call.work();
    in_team() = false;
    if (helpers.forks() != forks)
        throw Error("a process that is forked within a parallel call must not return from it");
    helpers.dismiss(called);
    if (call.error) std::rethrow_exception(call.error);
}

}  // namespace rowan::inline v0::detail

#endif
