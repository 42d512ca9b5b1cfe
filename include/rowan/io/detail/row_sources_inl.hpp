// rowan/io/detail/row_sources_inl.hpp: definitions of rowan/io/detail/row_sources.hpp.
#pragma once

#include <rowan/io/detail/row_sources.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/io/detail/direct_rows.hpp>
#include <rowan/io/detail/mapped_rows.hpp>

#include <algorithm>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION std::shared_ptr<RowSource const> open_row_source(std::shared_ptr<InputFile const> file,
                                                                std::uint64_t offset, std::int64_t height,
                                                                std::size_t row_bytes, RowStoreOptions const& options) {
    if (height < 0) throw ShapeError("height", height, "0 or more");
    if (options.readers < 0 || options.readers > 1024)
        throw ValueError("readers", options.readers, "a number in [0, 1024]");
    constexpr std::size_t least = 4 * PageCache::bytes_per_page, most = least << 28;
    if (options.cache_bytes < least || options.cache_bytes > most) {
        throw ValueError("cache_bytes", options.cache_bytes, {"a number in [", least, ", ", most, "]"});
    }
    std::uint64_t const size = file->size(), left = offset > size ? 0 : size - offset;
    if (offset > size || (row_bytes != 0 && static_cast<std::uint64_t>(height) > left / row_bytes)) {
        throw FormatError(offset, "rows",
                          {"are ", height, " of ", row_bytes, " bytes, but the file ends at byte ", size});
    }
    static constexpr std::byte nothing{};
    if (height == 0 || row_bytes == 0) return std::make_shared<MemoryRows>(height, row_bytes, &nothing, nullptr);
    std::uint64_t const of_rows = static_cast<std::uint64_t>(height) * row_bytes / PageCache::page_bytes + 2;
    std::size_t const pages =
        static_cast<std::size_t>(std::min<std::uint64_t>(options.cache_bytes / PageCache::bytes_per_page, 2 * of_rows));
    switch (options.access) {
        case RowAccess::mapped:
            return std::make_shared<MappedRows>(std::move(file), offset, height, row_bytes);
        case RowAccess::direct:
            return std::make_shared<DirectRows<>>(std::move(file), offset, height, row_bytes, pages, options.readers);
        case RowAccess::resident:
            return read_rows(Cpu{}, *file, offset, height, row_bytes);
    }
    throw ValueError("access", static_cast<int>(options.access), "mapped, direct or resident");
}

}  // namespace rowan::inline v0::detail

#endif
