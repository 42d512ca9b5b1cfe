// tests/core/kept_memory.cpp: without a pool, the process keeps large blocks up to a limit; the oldest sizes leave first.
#include <rowan/core/kept_memory.hpp>
#include <rowan/core/memory_pool.hpp>
#include <rowan/core/tensor.hpp>

#include "catch.hpp"
#include "sanitizers.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#ifdef TESTS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace test_kept_memory {

using rowan::Tensor;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

Tensor<std::uint8_t> bytes(std::size_t n) { return Tensor<std::uint8_t>::from_shape({n}); }

/// Nothing is kept at the beginning of a test, and the limit is `most` until its end.
struct Limit {
    explicit Limit(std::size_t most) {
        rowan::release_memory();
        rowan::limit_kept_memory(most);
    }
    Limit(Limit const&) = delete;
    Limit& operator=(Limit const&) = delete;
    ~Limit() { rowan::limit_kept_memory(1024 * mib); }
};

}  // namespace

TEST_CASE("a large tensor reuses the memory of a destroyed one, and a small one leaves nothing", "[kept_memory]") {
    Limit const limit(100 * mib);
    { auto const small = bytes(mib / 8 - 1); }
    CHECK(rowan::kept_memory() == 0);
    { auto const least = bytes(mib / 8); }
    CHECK(rowan::kept_memory() == mib / 8);
    rowan::release_memory();
    void const* const first = bytes(5 * mib).data();
    CHECK(rowan::kept_memory() == 5 * mib);
    auto const again = bytes(5 * mib - 1000);
    CHECK(again.data() == first);
    CHECK(rowan::kept_memory() == 0);
}

#ifdef TESTS_ADDRESS_SANITIZER
TEST_CASE("the address sanitizer takes kept memory as freed", "[kept_memory]") {
    Limit const limit(100 * mib);
    std::uint8_t* const first = bytes(3 * mib).data();
    CHECK((::__asan_address_is_poisoned(first) && ::__asan_address_is_poisoned(first + 3 * mib - 1)));
    auto const again = bytes(3 * mib - 100);
    REQUIRE(again.data() == first);
    CHECK((!::__asan_address_is_poisoned(first) && ::__asan_address_is_poisoned(first + 3 * mib - 1)));
}
#endif

TEST_CASE("the process keeps at most the limit; the sizes that were not used for the longest time leave first",
          "[kept_memory]") {
    Limit const limit(10 * mib);
    { auto const large = bytes(11 * mib); }
    CHECK(rowan::kept_memory() == 0);
    void const* const four = bytes(4 * mib).data();
    { auto const five = bytes(5 * mib); }
    CHECK(rowan::kept_memory() == 9 * mib);
    CHECK(bytes(4 * mib).data() == four);
    { auto const two = bytes(2 * mib); }
    CHECK(rowan::kept_memory() == 6 * mib);  // not the 5 MiB
    CHECK(bytes(4 * mib).data() == four);
    rowan::limit_kept_memory(5 * mib);
    CHECK(rowan::kept_memory() == 4 * mib);
    rowan::release_memory();
    CHECK(rowan::kept_memory() == 0);
    rowan::limit_kept_memory(0);
    { auto const none = bytes(4 * mib); }
    CHECK(rowan::kept_memory() == 0);
    rowan::limit_kept_memory(4 * mib);
    { auto const whole = bytes(4 * mib); }
    CHECK(rowan::kept_memory() == 4 * mib);
}

TEST_CASE("the environment sets the limit of a process", "[kept_memory][kept_memory_environment]") {
    char const* const most = std::getenv("ROWAN_KEPT_MEMORY");
    if (most == nullptr || (std::string(most) != "3145728" && std::string(most) != "1G")) {  // this process has read it: ask others
        auto const self = std::filesystem::read_symlink("/proc/self/exe").string();
        for (std::string const value : {"3145728", "1G"})
            CHECK(std::system(("ROWAN_KEPT_MEMORY=" + value + " '" + self + "' '[kept_memory_environment]' >/dev/null").c_str()) == 0);
        return;
    }
    if (std::string(most) == "1G") {
        CHECK_THROWS_WITH(bytes(mib), "the environment variable ROWAN_KEPT_MEMORY is \"1G\", expected a number of bytes");
        CHECK_THROWS_AS(rowan::kept_memory(), rowan::Error);
        return;
    }
    { auto const more = bytes(4 * mib); }
    CHECK(rowan::kept_memory() == 0);
    { auto const fits = bytes(3 * mib); }
    CHECK(rowan::kept_memory() == 3 * mib);
}

TEST_CASE("a thread with a MemoryPool keeps nothing for the process", "[kept_memory]") {
    Limit const limit(100 * mib);
    rowan::MemoryPool pool;
    rowan::MemoryPool::Guard const guard(pool);
    { auto const x = bytes(3 * mib); }
    CHECK((pool.kept() >= 3 * mib && rowan::kept_memory() == 0));
}

TEST_CASE("threads share the memory that the process keeps", "[kept_memory]") {
    Limit const limit(100 * mib);
    auto const work = [] {
        for (std::size_t i = 0; i < 200; ++i) {
            auto x = bytes((1 + i % 3) * mib);
            x(0) = x(x.size() - 1) = 1;
        }
    };
    std::thread other(work);
    work();
    other.join();
    CHECK(rowan::kept_memory() >= 6 * mib);
}

TEST_CASE("a forked process has its own copy of the kept memory", "[kept_memory]") {
    Limit const limit(100 * mib);
    { auto const x = bytes(3 * mib); }
    ::pid_t const child = ::fork();
    if (child == 0) {
        auto const x = bytes(3 * mib);
        ::_exit(rowan::kept_memory() == 0 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(rowan::kept_memory() == 3 * mib);
}

}  // namespace test_kept_memory
