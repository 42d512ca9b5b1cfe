// rowan/io/detail/file_inl.hpp: definitions of rowan/io/detail/file.hpp.
#pragma once

#include <rowan/io/detail/file.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <dirent.h>
#include <sys/mman.h>

#include <array>
#include <string_view>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION ssize_t PosixFiles::pread(int file, void* to, std::size_t n, off_t offset) {
    return ::pread(file, to, n, offset);
}

ROWAN_CALLED_FUNCTION int PosixFiles::open(char const* path, int flags, mode_t mode) {
    return ::open(path, flags, mode);
}

ROWAN_CALLED_FUNCTION ssize_t PosixFiles::write(int file, void const* bytes, std::size_t n) {
    return ::write(file, bytes, n);
}

ROWAN_CALLED_FUNCTION int PosixFiles::fsync(int file) { return ::fsync(file); }

ROWAN_CALLED_FUNCTION int PosixFiles::close(int file) { return ::close(file); }

ROWAN_CALLED_FUNCTION int PosixFiles::rename(char const* from, char const* to) { return ::rename(from, to); }

ROWAN_CALLED_FUNCTION int PosixFiles::unlink(char const* path) { return ::unlink(path); }

ROWAN_CALLED_FUNCTION int PosixFiles::lstat(char const* path, struct stat& about) { return ::lstat(path, &about); }

ROWAN_CALLED_FUNCTION int PosixFiles::fstat(int file, struct stat& about) { return ::fstat(file, &about); }

ROWAN_CALLED_FUNCTION ssize_t PosixFiles::readlink(char const* path, char* to, std::size_t n) {
    return ::readlink(path, to, n);
}

ROWAN_CALLED_FUNCTION int PosixFiles::flock(int file, int operation) { return ::flock(file, operation); }

ROWAN_CALLED_FUNCTION int PosixFiles::fchown(int file, uid_t owner, gid_t group) {
    return ::fchown(file, owner, group);
}

ROWAN_CALLED_FUNCTION int PosixFiles::fchmod(int file, mode_t mode) { return ::fchmod(file, mode); }

ROWAN_CALLED_FUNCTION void throw_io(char const* operation, std::string const& path, int code) {
    throw IoError(operation, path, std::strerror(code), code);
}

ROWAN_FUNCTION std::string checked_path(char const* operation, std::string path) {
    if (path.empty()) throw IoError(operation, path, "the path is empty", EINVAL);
    std::size_t const zero = path.find('\0');
    if (zero != path.npos) {
        throw IoError(operation, path.substr(0, zero),
                      {"the path has the byte 0 at position ", zero, " of ", path.size()}, EINVAL);
    }
    return path;
}

ROWAN_CALLED_FUNCTION void check_file_name(std::string const& name) {
    auto const refuse = [&](char const* why) { throw Error({"the name \"", name, "\" ", why}); };
    if (name.empty()) refuse("is empty");
    if (name.size() > 200) refuse("is longer than 200 bytes");
    if (name.find('/') != name.npos || name.find('\0') != name.npos)
        refuse("has a character that is not allowed in file names");
}

ROWAN_CALLED_FUNCTION std::string folder_of(std::string const& path) {
    std::size_t const slash = path.rfind('/');
    return slash == path.npos ? "./" : path.substr(0, slash + 1);
}

inline constexpr std::string_view temporary_prefix = ".rowan-", hex_digits = "0123456789abcdef";
inline constexpr std::size_t temporary_digits = 16;

ROWAN_CALLED_FUNCTION std::string temporary_path(std::string const& folder) {
    std::array<unsigned char, temporary_digits> random;
    if (::getentropy(random.data(), random.size()) != 0) throw_io("create", folder);
    std::string path = folder;
    path += temporary_prefix;
    for (unsigned char const byte : random) path += hex_digits[byte % 16];
    return path;
}

/// Calls visit(name) for each entry of a folder, if the folder can be read.
template <class Visit>
void for_each_entry(std::string const& folder, Visit const& visit) {
    std::unique_ptr<DIR, decltype([](DIR* d) { ::closedir(d); })> const list(::opendir(folder.c_str()));
    if (list == nullptr) return;
    while (dirent const* const entry = ::readdir(list.get())) visit(std::string_view(entry->d_name));
}

ROWAN_CALLED_FUNCTION void remove_temporary(std::string const& path) {
    if (::unlink(path.c_str()) == 0 || errno != EISDIR) return;
    for_each_entry(path, [&](std::string_view name) { ::unlink(std::string(path).append("/").append(name).c_str()); });
    ::rmdir(path.c_str());
}

ROWAN_CALLED_FUNCTION void remove_abandoned(std::string const& folder) {
    for_each_entry(folder, [&](std::string_view name) {
        if (!name.starts_with(temporary_prefix) || name.size() != temporary_prefix.size() + temporary_digits ||
            name.find_first_not_of(hex_digits, temporary_prefix.size()) != name.npos)
            return;
        std::string const path = folder + std::string(name);
        int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) return;
        if (::flock(file, LOCK_EX | LOCK_NB) == 0) remove_temporary(path);
        ::close(file);
    });
}

ROWAN_CALLED_FUNCTION InputFile::InputFile(std::string path)
    : path_(checked_path("open", std::move(path))),
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

ROWAN_CALLED_FUNCTION Buffer<std::byte> read_file(std::string const& path) {
    InputFile const file(path);
    Buffer<std::byte> bytes(static_cast<std::size_t>(file.size()));
    file.read(0, bytes);
    return bytes;
}

ROWAN_CALLED_FUNCTION void keep_file(std::string const& path, std::string const& copy) {
    for (;;) {
        auto const name = temporary_path(folder_of(copy));
        if (::link(path.c_str(), name.c_str()) != 0) {
            if (errno == ENOENT) return;
            if (errno == EEXIST) continue;
            return write_file(copy, read_file(path));  // a file system without links
        }
        int const code = ::rename(name.c_str(), copy.c_str()) == 0 ? 0 : errno;
        ::unlink(name.c_str());  // rename leaves it if both are names of one file already
        if (code == 0) return;
        if (code != ENOENT) throw_io("rename", copy, code);  // else another process took it for an abandoned file
    }
}

ROWAN_CALLED_FUNCTION void write_file(std::string const& path, std::span<std::byte const> bytes) {
    AtomicFile<> file(path);
    file.write(bytes);
    file.commit();
}

}  // namespace rowan::inline v0::detail

#endif
