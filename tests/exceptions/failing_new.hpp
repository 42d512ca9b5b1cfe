// tests/exceptions/failing_new.hpp: this program's operator new, which can be told to fail. Not for the thread sanitizer, which has its own.
#pragma once

#include <cstddef>

namespace test {

/// Lets the n-th allocation from now on fail, counted from 1, on whatever thread; with `ever_after` all later ones too. 0: none.
void fail_allocation(std::size_t n, bool ever_after = false);

/// How many blocks are allocated now, and how many have ever been.
std::ptrdiff_t live_blocks();
std::ptrdiff_t allocations();

/// Starts a count, and the most bytes that have been allocated at once since then beyond those that were.
void watch_bytes();
std::ptrdiff_t most_bytes();

}  // namespace test
