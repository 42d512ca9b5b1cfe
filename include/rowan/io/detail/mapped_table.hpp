// rowan/io/detail/mapped_table.hpp: system calls for files of tables.
#pragma once

#include <rowan/io/detail/file.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

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

/// Whether the disk is known to have space for all n bytes of a file that uses `space` bytes. What is missing of about
/// as many is reserved if possible.
ROWAN_IF_CALLED bool has_space(int file, std::uint64_t space, std::uint64_t n);

ROWAN_IF_CALLED std::uint64_t random_id(std::string const& path);

/// Gives a complete temporary file its name.
/// errors   IoError if there is a file of that name
ROWAN_IF_CALLED void name_new_file(std::string const& temporary, std::string const& path);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/mapped_table_inl.hpp>
