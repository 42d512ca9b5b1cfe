// rowan/io/detail/page_set.hpp: PageSet, a bit for each page of a file, and runs of pages.
#pragma once

#include <rowan/core/allocator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

class PageSet {
public:
    /// errors   std::bad_alloc
    void resize(std::uint64_t pages) { bits_.resize(static_cast<std::size_t>(pages / 64 + 1)); }
    /// Whether it was never resized.
    bool none() const noexcept { return bits_.empty(); }

    bool has(std::uint64_t page) const { return (bits_[page / 64] >> page % 64 & 1) != 0; }
    void add(std::uint64_t page) { bits_[page / 64] |= std::uint64_t{1} << page % 64; }
    void remove(std::uint64_t page) { bits_[page / 64] &= ~(std::uint64_t{1} << page % 64); }
    void clear() { std::fill(bits_.begin(), bits_.end(), 0); }

private:
    Buffer<std::uint64_t> bits_;
};

/// Calls f(first, count) for each run of consecutive pages.
template <class F>
void for_runs(std::span<std::uint64_t const> pages, F const& f) {
    for (std::size_t i = 0, n = 1; i < pages.size(); i += n, n = 1) {
        while (i + n < pages.size() && pages[i + n] == pages[i] + n) ++n;
        f(pages[i], n);
    }
}

}  // namespace rowan::inline v0::detail
