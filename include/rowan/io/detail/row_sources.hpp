// rowan/io/detail/row_sources.hpp: open_row_source, for rows of a file.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/page_cache.hpp>
#include <rowan/io/row_store_options.hpp>
#include <rowan/sparse/detail/row_source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace rowan::inline v0::detail {

/// Reads rows into memory.
/// errors   IoError if a read fails; std::bad_alloc
template <class Files = PosixFiles>
std::shared_ptr<RowSource const> read_rows(Cpu exec, InputFile const& file, std::uint64_t offset, std::int64_t height,
                                           std::size_t row_bytes) {
    constexpr std::size_t part = std::size_t{4} << 20;
    std::size_t const n = static_cast<std::size_t>(height) * row_bytes;
    std::shared_ptr<std::byte> const memory = untouched_memory(n);
    parallel_for(exec, (n + part - 1) / part, 1, [&](std::size_t begin, std::size_t end) {
        std::size_t const first = begin * part;
        file.read<Files>(offset + first, std::span(memory.get() + first, std::min(end * part, n) - first));
    });
    return std::make_shared<MemoryRows>(height, row_bytes, memory.get(), memory);
}

/// Rows of `row_bytes` bytes of a file, of which row i begins at byte offset + i * row_bytes.
/// requires   for mapped access, the file is not truncated while the rows are in use
/// errors   ShapeError if `height` is negative; FormatError if the rows are not in the file; ValueError for bad
///          options; IoError if a system call fails
/// cost     that of opening a file, whatever its size, unless the rows are resident
std::shared_ptr<RowSource const> open_row_source(std::shared_ptr<InputFile const> file, std::uint64_t offset,
                                                 std::int64_t height, std::size_t row_bytes,
                                                 RowStoreOptions const& options = {});

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/row_sources_inl.hpp>
