// tests/exceptions/failing_new.hpp: an operator new that can fail on request. The thread sanitizer has its own.
#pragma once

#include <cstddef>

namespace test {

/// Lets the n-th allocation from now on fail, on any thread, and with `ever_after` all later ones. 0: none fails. With
/// `counts`, only of threads on which it returns true; it must not allocate.
void fail_allocation(std::size_t n, bool ever_after = false, bool (*counts)() = nullptr);
/// Whether one has failed since fail_allocation.
bool allocation_failed();

/// The number of blocks allocated now, and the number of all allocations so far.
std::ptrdiff_t live_blocks();
std::ptrdiff_t allocations();

/// Starts a measurement; most_bytes() is the peak of allocated bytes since then, above those at the start.
void watch_bytes();
std::ptrdiff_t most_bytes();

}  // namespace test
