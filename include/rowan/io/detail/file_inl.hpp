// rowan/io/detail/file_inl.hpp: definitions of rowan/io/detail/file.hpp.
#pragma once

#include <rowan/io/detail/file.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <sys/mman.h>
#include <sys/stat.h>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ssize_t PosixFiles::pread(int file, void* to, std::size_t n, off_t offset) {
    return ::pread(file, to, n, offset);
}

ROWAN_FUNCTION int PosixFiles::open(char const* path, int flags, mode_t mode) { return ::open(path, flags, mode); }

ROWAN_FUNCTION ssize_t PosixFiles::write(int file, void const* bytes, std::size_t n) { return ::write(file, bytes, n); }

ROWAN_FUNCTION int PosixFiles::fsync(int file) { return ::fsync(file); }

ROWAN_FUNCTION int PosixFiles::close(int file) { return ::close(file); }

ROWAN_FUNCTION int PosixFiles::rename(char const* from, char const* to) { return ::rename(from, to); }

ROWAN_FUNCTION int PosixFiles::unlink(char const* path) { return ::unlink(path); }

ROWAN_FUNCTION void throw_io(char const* operation, std::string const& path, int code) {
    throw IoError(operation, path, std::strerror(code), code);
}

ROWAN_FUNCTION InputFile::InputFile(std::string path)
    : path_(std::move(path)),
      // O_NONBLOCK: do not block on a pipe, which is then rejected as not a regular file
      file_(uninterrupted([&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); })) {
    if (file_ < 0) throw_io("open", path_);
    struct stat about {};
    int const code = ::fstat(file_, &about) != 0 ? errno : !S_ISREG(about.st_mode) ? EINVAL : 0;
    if (code != 0) {
        ::close(file_);
        if (code == EINVAL) throw IoError("open", path_, "not a regular file", code);
        throw_io("stat", path_, code);
    }
    size_ = static_cast<std::uint64_t>(about.st_size);
}

ROWAN_FUNCTION InputFile::~InputFile() { ::close(file_); }

ROWAN_FUNCTION std::shared_ptr<std::byte> InputFile::map(std::uint64_t offset, std::size_t n) const {
    if (n == 0) return nullptr;
    std::size_t const before = static_cast<std::size_t>(offset % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    void* const pages = ::mmap(nullptr, before + n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file_,
                               static_cast<off_t>(offset - before));
    if (pages == MAP_FAILED) throw_io("map", path_);
    return {static_cast<std::byte*>(pages) + before, [=](std::byte*) { ::munmap(pages, before + n); }};
}

ROWAN_FUNCTION Buffer<std::byte> read_file(std::string const& path) {
    InputFile const file(path);
    Buffer<std::byte> bytes(static_cast<std::size_t>(file.size()));
    file.read(0, bytes);
    return bytes;
}

ROWAN_FUNCTION void write_file(std::string const& path, std::span<std::byte const> bytes) {
    AtomicFile<> file(path);
    file.write(bytes);
    file.commit();
}

}  // namespace rowan::inline v0::detail

#endif
