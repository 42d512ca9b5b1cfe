// rowan/io/detail/mapped_table.hpp: TableMemory, the memory of a table's file, and system calls for such files.
#pragma once

#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/table_layout.hpp>
#include <rowan/sparse/detail/reserved_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// The absolute path of a file, without symbolic links. The file must exist.
/// errors   IoError if it does not
ROWAN_IF_CALLED std::string real_path(char const* operation, std::string const& path);

/// The absolute path of a new file, in a folder that must exist.
/// errors   IoError if it does not
ROWAN_IF_CALLED std::string new_path(std::string const& path);

/// Maps a whole file, so that what is written to memory is written to the file.
/// errors   IoError if a system call fails
ROWAN_IF_CALLED std::shared_ptr<std::byte> map_shared(int file, std::string const& path, std::size_t n);

/// Tells the system that pages are needed soon.
ROWAN_IF_CALLED void will_need(std::byte const* from, std::size_t n) noexcept;

/// Takes pages of a mapped file out of the process; the file's contents remain what they are.
ROWAN_IF_CALLED void release_pages(std::byte* from, std::size_t n) noexcept;

/// Reserves disk space, where the file system can.
/// errors   IoError if there is not enough
ROWAN_IF_CALLED void allocate_file(int file, std::string const& path, std::uint64_t offset, std::uint64_t n);

/// The memory of a table's file. The parts of one that grows have addresses of their own, so that their rows never move.
class TableMemory {
public:
    /// Maps the whole file, of n bytes.
    /// errors   IoError if a system call fails
    ROWAN_IF_CALLED void map(int file, std::string const& path, std::size_t n);
    /// Gives each part of a table that grows addresses, of which its rows have the first.
    /// errors   IoError if a system call fails; std::bad_alloc
    ROWAN_IF_CALLED void map_parts(int file, std::string const& path, TableLayout const& layout);
    /// errors   std::bad_alloc if parts do not have the addresses for these rows
    ROWAN_IF_CALLED void check_room(TableLayout const& layout) const;
    /// Maps what a file that has become larger has more than before.
    /// errors   IoError if a system call fails
    ROWAN_IF_CALLED void extend(int file, std::string const& path, TableLayout const& before,
                                TableLayout const& larger);

    std::byte* page(std::uint64_t number) const noexcept { return whole_.get() + number * table_page; }
    std::byte* data(TableLayout const& layout, std::size_t part) const noexcept {
        return parts_.empty() ? whole_.get() + layout.offsets[part] : parts_[part]->data();
    }
    /// The memory of a part, with its owner.
    ROWAN_IF_CALLED std::shared_ptr<std::byte> part(TableLayout const& layout, std::size_t k) const noexcept;
    /// Whether these bytes are in one of the parts.
    ROWAN_IF_CALLED bool holds(TableLayout const& layout, std::span<std::byte const> bytes) const noexcept;
    /// Takes its pages out of the process.
    ROWAN_IF_CALLED void release(TableLayout const& layout) const noexcept;

private:
    /// Maps rows of a part from this one on, from which, if it is not 0, twice as many follow, and so on.
    ROWAN_IF_CALLED void map_rows(int file, std::string const& path, TableLayout const& layout, std::size_t part,
                                  std::uint64_t row);

    std::shared_ptr<std::byte> whole_;
    std::vector<std::shared_ptr<ReservedMemory>> parts_;  // of a table that grows: the same pages again
};

/// Whether the disk is known to have space for all n bytes of a file that uses `space` bytes. What is missing of about
/// as many is reserved if possible.
ROWAN_IF_CALLED bool has_space(int file, std::uint64_t space, std::uint64_t n);

ROWAN_IF_CALLED std::uint64_t random_id(std::string const& path);

/// Gives a complete temporary file its name.
/// errors   IoError if there is a file of that name
ROWAN_IF_CALLED void name_new_file(std::string const& temporary, std::string const& path);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/mapped_table_inl.hpp>
