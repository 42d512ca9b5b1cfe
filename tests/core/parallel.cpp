// tests/core/parallel.cpp: every index is visited once, one exception is thrown, no deadlock, also in forked processes.
#include <rowan/core/parallel.hpp>

#include <rowan/core/detail/float_control.hpp>
#include <rowan/core/detail/process_mutex.hpp>

#include "catch.hpp"
#include "forked.hpp"

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace test_parallel {

using rowan::Cpu;
using rowan::parallel_for;

namespace {

// The number of indices in [0, n) that are not visited exactly once.
std::size_t not_once(Cpu exec, std::size_t n, std::size_t grain) {
    std::vector<std::atomic<int>> visits(n);
    parallel_for(exec, n, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
    std::size_t wrong = 0;
    for (auto const& count : visits) wrong += count != 1;
    return wrong;
}

}  // namespace

TEST_CASE("every index is visited once, for any number of threads, length and grain", "[parallel]") {
    for (int threads : {0, 1, 2, 3, 8}) {
        for (std::size_t n : std::vector<std::size_t>{0, 1, 2, 63, 64, 65, 1000}) {
            for (std::size_t grain : std::vector<std::size_t>{0, 1, 7, 64, 5000}) {
                CAPTURE(threads, n, grain);
                CHECK(not_once(Cpu{threads}, n, grain) == 0);
            }
        }
    }
}

TEST_CASE("a length near the largest integer is divided without overflow", "[parallel]") {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    std::atomic<std::size_t> covered{0};
    parallel_for(Cpu{2}, most, most / 16, [&](std::size_t begin, std::size_t end) { covered += end - begin; });
    CHECK(covered == most);
}

TEST_CASE("an empty loop calls nothing", "[parallel]") {
    parallel_for(Cpu{4}, 0, 1, [](std::size_t, std::size_t) { FAIL("called"); });
    SUCCEED();
}

TEST_CASE("one of several exceptions reaches the caller, and the next loop runs", "[parallel]") {
    for (int threads : {1, 2, 4}) {
        int caught = 0;
        try {
            parallel_for(Cpu{threads}, 100, 1, [](std::size_t, std::size_t) { throw std::runtime_error("bad range"); });
        } catch (std::runtime_error const& e) {
            caught += e.what() == std::string("bad range");
        }
        CHECK(caught == 1);
        CHECK(not_once(Cpu{threads}, 100, 1) == 0);
    }
}

TEST_CASE("an exception of one range only reaches the caller", "[parallel]") {
    auto const throw_at_50 = [](std::size_t begin, std::size_t) {
        if (begin == 50) throw begin;
    };
    CHECK_THROWS_AS(parallel_for(Cpu{3}, 100, 1, throw_at_50), std::size_t);
}

TEST_CASE("a callback may have parameters of type auto, or be a function", "[parallel]") {
    std::atomic<std::size_t> visits{0};
    parallel_for(Cpu{2}, 100, 10, [&](auto begin, auto end) {
        for (auto i = begin; i < end; ++i) ++visits;
    });
    CHECK(visits == 100);
    static std::size_t last = 0;
    void (*const function)(std::size_t, std::size_t) = [](std::size_t, std::size_t end) { last = end; };
    parallel_for(Cpu{1}, 7, 10, function);
    CHECK(last == 7);
}

TEST_CASE("loops may be nested", "[parallel]") {
    std::atomic<int> visits{0};
    parallel_for(Cpu{2}, 8, 1, [&](std::size_t, std::size_t) {
        parallel_for(Cpu{2}, 16, 1, [&](std::size_t begin, std::size_t end) { visits += static_cast<int>(end - begin); });
    });
    CHECK(visits == 8 * 16);
}

TEST_CASE("calls of several threads at a time each visit every index once", "[parallel]") {
    std::atomic<std::size_t> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 6; ++caller) {
        callers.emplace_back([&] {
            for (int i = 0; i < 200; ++i) wrong += not_once(Cpu{2 + i % 3}, 100, 7);
        });
    }
    for (auto& caller : callers) caller.join();
    CHECK(wrong == 0);
}

TEST_CASE("a call does not wait for threads that work for another call", "[parallel]") {
    std::atomic<int> inside{0};
    std::atomic<bool> done{false};
    std::thread other([&] {
        rowan::detail::team(8, [&](std::size_t) {
            ++inside;
            while (!done) std::this_thread::yield();
        });
    });
    while (inside == 0) std::this_thread::yield();
    std::size_t wrong = 0;
    for (int i = 0; i < 100; ++i) wrong += not_once(Cpu{8}, 100, 7);
    done = true;
    other.join();
    CHECK(wrong == 0);
}

TEST_CASE("helpers round and flush as their caller does at this call, and their caller is left as it was", "[parallel]") {
    using rowan::detail::FloatControl;
    FloatControl const before = FloatControl::get();
    std::vector<FloatControl> words{before};
    for (int const rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(rounding);
        words.push_back(FloatControl::get());
        std::fesetround(FE_TONEAREST);
    }
#if defined(__SSE__)
    words.push_back({before.word | 0x8040});  // flush to zero, denormals are zeros
    words.push_back({before.word | 0xA040});  // and toward negative infinity
#elif defined(__aarch64__)
    words.push_back({before.word | std::uint64_t{1} << 24});
#endif
    words.push_back(before);
    for (FloatControl const word : words) {
        std::atomic<int> others{0}, come{0};
        word.set();
        // a share waits for a second thread, for a while, so that most calls have one
        rowan::detail::for_each_share(4, 8, [&](std::size_t) {
            others += FloatControl::get().word != word.word;
            ++come;
            auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
            while (come < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
        });
        FloatControl const after = FloatControl::get();
        before.set();
        CHECK(others == 0);
        CHECK(after.word == word.word);
    }
    auto const own = [&] {  // two callers at a time, each with its own
        std::fesetround(FE_UPWARD);
        auto const mine = FloatControl::get().word;
        std::atomic<int> others{0};
        for (int i = 0; i < 200; ++i) parallel_for(Cpu{3}, 16, 1, [&](std::size_t, std::size_t) { others += FloatControl::get().word != mine; });
        return others.load();
    };
    int of_thread = -1;
    std::atomic<int> here{0};
    std::thread other([&] { of_thread = own(); });
    for (int i = 0; i < 200; ++i)
        parallel_for(Cpu{3}, 16, 1, [&](std::size_t, std::size_t) { here += FloatControl::get().word != before.word; });
    other.join();
    CHECK(of_thread == 0);
    CHECK(here == 0);
}

TEST_CASE("a forked process, and one that it forks, visit every index once", "[parallel]") {
    CHECK(not_once(Cpu{3}, 1000, 7) == 0);
    CHECK(forked::succeeds([] {
        bool const before = not_once(Cpu{3}, 1000, 7) == 0;
        return before && forked::succeeds([] { return not_once(Cpu{2}, 1000, 7) == 0; }) && not_once(Cpu{4}, 1000, 7) == 0;
    }));
    CHECK(not_once(Cpu{3}, 1000, 7) == 0);
}

TEST_CASE("a process may fork while its other threads make parallel calls", "[parallel]") {
    std::atomic<bool> done{false};
    std::atomic<std::size_t> wrong{0};
    std::thread other([&] {
        while (!done) wrong += not_once(Cpu{3}, 100, 7);
    });
    for (int i = 0; i < 20; ++i) wrong += !forked::succeeds_beside_threads([] { return not_once(Cpu{3}, 1000, 7) == 0; });
    done = true;
    other.join();
    CHECK(wrong == 0);
}

TEST_CASE("a process may fork while another thread has a mutex of the process", "[parallel]") {
    auto& mutex = rowan::detail::process_mutex<int>();
    CHECK(&mutex == &rowan::detail::process_mutex<int>());
    CHECK(&mutex != &rowan::detail::process_mutex<char>());
    std::atomic<bool> locked{false};
    std::thread other([&] {
        std::lock_guard const lock(rowan::detail::process_mutex<int>());
        locked = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    });
    while (!locked) std::this_thread::yield();
    CHECK(forked::succeeds([&] { return mutex.try_lock(); }));
    other.join();
    CHECK(mutex.try_lock());
    mutex.unlock();
}

TEST_CASE("a process that is forked within a call gets an error instead of half a result", "[parallel]") {
    auto const parent = std::this_thread::get_id();
    CHECK(forked::succeeds([=] {
        std::atomic<bool> came{false};
        ::pid_t child = -1;
        try {
            rowan::detail::for_each_share(2, 100, [&](std::size_t) {
                while (!came && std::this_thread::get_id() != parent) std::this_thread::yield();
                if (std::this_thread::get_id() == parent && !came.exchange(true)) child = ::fork();
            });
        } catch (rowan::Error const&) {
            ::_exit(child == 0 ? 0 : 1);
        }
        return child > 0 && forked::status(child) == 0;
    }));
}

TEST_CASE("starts more threads than there are, and ends", "[.][end_of_parallel]") {
    std::atomic<int> calls{0};
    rowan::detail::team(32, [&](std::size_t) { ++calls; });
    CHECK(calls == 32);
}

TEST_CASE("a program may end before the threads of its last call begin", "[parallel]") {
    std::string const program = std::filesystem::read_symlink("/proc/self/exe").string();
    for (int i = 0; i < 10; ++i) REQUIRE(std::system(("'" + program + "' [end_of_parallel] >/dev/null 2>&1").c_str()) == 0);
}

#ifdef _OPENMP
TEST_CASE("every thread of a caller's own parallel region may run a loop", "[parallel]") {
    std::atomic<int> visits{0};
    std::atomic<int> regions{0};
#pragma omp parallel num_threads(3)
    {
        ++regions;
        parallel_for(Cpu{2}, 100, 10, [&](std::size_t begin, std::size_t end) { visits += static_cast<int>(end - begin); });
    }
    CHECK(visits == regions * 100);
}

TEST_CASE("a loop in a single section of a caller's region does not wait for the others", "[parallel]") {
    std::atomic<int> visits{0};
#pragma omp parallel num_threads(2)
#pragma omp single nowait
    parallel_for(Cpu{2}, 100, 10, [&](std::size_t begin, std::size_t end) { visits += static_cast<int>(end - begin); });
    CHECK(visits == 100);
}

TEST_CASE("0 threads are all that OpenMP offers", "[parallel]") { CHECK(rowan::thread_count(Cpu{}) == omp_get_max_threads()); }
#endif

TEST_CASE("thread_count returns a positive number unchanged and throws for a negative one", "[parallel]") {
#ifdef _OPENMP
    CHECK(rowan::thread_count(Cpu{5}) == 5);
#else
    CHECK(rowan::thread_count(Cpu{5}) == 1);
#endif
    CHECK_THROWS_AS(rowan::thread_count(Cpu{-1}), rowan::ValueError);
}

TEST_CASE("small work runs on one thread, twice as much if the caller gives no number of threads", "[parallel]") {
    using rowan::detail::serial_below, rowan::detail::threads_for;
    CHECK((threads_for(Cpu{2}, serial_below - 1) == 1 && threads_for({}, 2 * serial_below - 1) == 1));
    CHECK((threads_for(Cpu{2}, serial_below) == rowan::thread_count(Cpu{2}) && threads_for({}, 2 * serial_below) == rowan::thread_count({})));
    CHECK_THROWS_AS(threads_for(Cpu{-1}, 0), rowan::ValueError);
}

}  // namespace test_parallel
