// rowan/io/detail/mapped_rows.hpp: MappedRows, rows of a file that is mapped.
#pragma once

#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/row_pages.hpp>
#include <rowan/sparse/detail/row_source.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// A mapped part of a file, to be read at random: an access to a page reads that page and no more.
class RandomMapping {
public:
    using Page = std::uint64_t;

    /// requires   the bytes are in the file, which is not truncated while they are in use; n is not 0
    /// errors   IoError if a system call fails
    ROWAN_IF_CALLED RandomMapping(std::shared_ptr<InputFile const> file, std::uint64_t offset, std::size_t n);
    RandomMapping(RandomMapping const&) = delete;
    RandomMapping& operator=(RandomMapping const&) = delete;
    ~RandomMapping();

    std::byte const* data() const noexcept { return memory_ + before_; }
    std::size_t before() const noexcept { return before_; }  ///< the bytes of the first page before data()
    std::size_t page_bytes() const noexcept { return page_bytes_; }
    /// Whether a page of the mapping is in memory, as far as the system tells. Does not wait for the disk.
    ROWAN_IF_CALLED bool has(Page page) const noexcept;
    /// Begins to read pages of the mapping, ascending ones, and does not wait for them.
    ROWAN_IF_CALLED void ask(std::span<Page const> pages) const noexcept;

private:
    std::shared_ptr<InputFile const> file_;
    std::size_t page_bytes_, before_, size_;
    std::uint64_t first_;  // byte of the file
    std::byte* memory_;
};

/// Rows of a mapped file. Pages come into memory when they are touched, one after the other, and will_read and prefetch
/// ask the system for many at a time.
class MappedRows final : public RowSource {
public:
    /// requires   the rows are in the file, and at least 1 byte; the file is not truncated while they are in use
    /// errors   IoError if a system call fails
    ROWAN_IF_CALLED MappedRows(std::shared_ptr<InputFile const> file, std::uint64_t offset, std::int64_t height,
                               std::size_t row_bytes);

    /// Asks for all pages of the rows if one of a few is missing. A look at a page costs as much as 5 rows in memory,
    /// so there is one for each 512 rows, and one in 64 calls for fewer rows. Once a page was missing, the next calls
    /// look at more.
    void will_read(Cpu, Ids<> const&) const override;
    /// Asks for the pages of the rows, if there are many on a thread that ends with the result at the latest.
    std::shared_ptr<void> prefetch(Cpu, Ids<> const&) const override;

private:
    ROWAN_IF_CALLED MappedRows(std::shared_ptr<RandomMapping const> mapping, std::int64_t height,
                               std::size_t row_bytes);

    ROWAN_IF_CALLED bool lacks_some(Ids<> const& ids, std::size_t samples) const noexcept;

    std::shared_ptr<RandomMapping const> mapping_;
    RowPages pages_;
    mutable std::atomic<unsigned> calls_{0};
    mutable std::atomic<int> looks_{0};  // the next calls that look
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/mapped_rows_inl.hpp>
