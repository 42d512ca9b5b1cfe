// rowan/io/detail/row_pages.hpp: RowPages, the pages of a file in which rows of equal size are.
#pragma once

#include <rowan/core/ids.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowan::inline v0::detail {

/// The pages, of 2^page_bits bytes, of rows of `row_bytes` bytes, at least 1, of which row 0 begins at byte `offset`.
struct RowPages {
    std::uint64_t offset, row_bytes;
    int page_bits;

    std::uint64_t page_bytes() const noexcept { return std::uint64_t{1} << page_bits; }
    std::uint64_t begin(std::int64_t row) const noexcept {
        return offset + static_cast<std::uint64_t>(row) * row_bytes;
    }
    std::uint64_t first(std::int64_t row) const noexcept { return begin(row) >> page_bits; }
    std::uint64_t last(std::int64_t row) const noexcept { return (begin(row) + row_bytes - 1) >> page_bits; }
    /// The most pages that a row has.
    std::size_t most() const noexcept {
        return static_cast<std::size_t>(((row_bytes + page_bytes() - 2) >> page_bits) + 1);
    }

    /// Appends the pages of rows [begin, end) of a list.
    void append(Ids<> const& ids, std::size_t begin, std::size_t end, std::vector<std::uint64_t>& to) const {
        ids.visit([&](auto list) {
            for (auto const id : list.subspan(begin, end - begin)) {
                std::uint64_t const until = last(id);
                for (std::uint64_t page = first(id); page <= until; ++page) to.push_back(page);
            }
        });
    }

    /// The pages of all rows of a list, ascending.
    std::vector<std::uint64_t> distinct(Ids<> const& ids) const {
        std::vector<std::uint64_t> pages;
        pages.reserve(ids.size() + ids.size() / 8);
        append(ids, 0, ids.size(), pages);
        std::sort(pages.begin(), pages.end());
        pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
        return pages;
    }
};

}  // namespace rowan::inline v0::detail
