// rowan/io/row_store_options.hpp: RowStoreOptions, how the rows of a table in a file are read.
#pragma once

#include <rowan/sparse/row_format.hpp>

#include <cstddef>
#include <optional>

namespace rowan::inline v0 {

/// How the rows of a file come into memory.
enum class RowAccess {
    mapped,    ///< the file is mapped: the system keeps in memory what it has room for
    direct,    ///< rows are read on demand, into a cache of fixed size
    resident,  ///< all rows are read when the file is opened
};

/// Options of a table in a file. Values never depend on them.
struct RowStoreOptions {
    RowAccess access = RowAccess::mapped;  ///< how the rows come into memory
    /// Of direct access: the memory of the cache of pages of 4 KiB, at least 16,576 bytes, which is 4 pages. Threads
    /// that have more pages in use at a time add to it.
    std::size_t cache_bytes = std::size_t{64} << 20;
    /// Of direct access: the threads that read, in [0, 1024]. They start when there is something to read for them, and
    /// sleep otherwise. Each has one page in flight, and so has the thread that waits for rows.
    int readers = 32;
    /// The format of rows that the file has as bytes, such as those of FBGEMM in a tensor of U8.
    std::optional<RowFormat> format = {};
    /// The elements of a row of `format`; 0: as many as the bytes of a row have, an even number of int4.
    std::size_t width = 0;
};

}  // namespace rowan::inline v0
