// tests/core/allocator.cpp: alignment, huge pages, and use in a standard container.
#include <rowan/core/allocator.hpp>

#include "catch.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

namespace test_allocator {

using rowan::Allocator;

namespace {

struct alignas(128) wide {
    char bytes[128];
};

template <class T>
std::size_t misalignment(std::size_t n, std::size_t alignment) {
    Allocator<T> memory;
    T* const block = memory.allocate(n);
    std::memset(static_cast<void*>(block), 1, n * sizeof(T));  // the whole block can be written
    std::size_t const rest = reinterpret_cast<std::uintptr_t>(block) % alignment;
    memory.deallocate(block, n);
    return rest;
}

}  // namespace

TEST_CASE("blocks begin at a multiple of 64 bytes, or of the type's own alignment", "[allocator]") {
    for (std::size_t n : std::vector<std::size_t>{0, 1, 3, 63, 64, 65, 100'000}) {
        CHECK(misalignment<char>(n, 64) == 0);
        CHECK(misalignment<double>(n, 64) == 0);
    }
    CHECK(misalignment<wide>(3, 128) == 0);
}

TEST_CASE("blocks of 4 MiB and more begin at a multiple of 2 MiB", "[allocator]") {
    std::size_t const from = Allocator<char>::huge_from;
    for (std::size_t bytes : std::vector<std::size_t>{from, from + 1, 3 * from - 1}) CHECK(misalignment<char>(bytes, Allocator<char>::huge_page) == 0);
    CHECK(misalignment<char>(from - 1, 64) == 0);
    CHECK(misalignment<double>(from / sizeof(double), Allocator<double>::huge_page) == 0);
}

TEST_CASE("allocate throws if the size exceeds the address space", "[allocator]") {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    CHECK_THROWS_AS(Allocator<double>().allocate(most), std::bad_array_new_length);
    CHECK_THROWS_AS(Allocator<double>().allocate(most / sizeof(double)), std::bad_array_new_length);
    CHECK_THROWS_AS(Allocator<char>().allocate(most), std::bad_array_new_length);
}

TEST_CASE("a standard container takes the allocator, and all of them are equal", "[allocator]") {
    std::vector<int, Allocator<int>> numbers(1000, 7);
    numbers.resize(2'000'000, 8);
    CHECK((numbers[999] == 7 && numbers.back() == 8));
    CHECK(Allocator<int>() == Allocator<double>());
    CHECK(Allocator<int>(Allocator<double>()) == Allocator<int>());
}

}  // namespace test_allocator
