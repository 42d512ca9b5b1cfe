// rowan/io/detail/open_file.hpp: OpenFile, a descriptor that is closed at the end, and what is done with it.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/detail/file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// A file that is open, or none. Functions throw IoError if a system call fails.
template <class Files>
class OpenFile {
public:
    explicit OpenFile(int file = -1) : file_(file) {}
    OpenFile(OpenFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    OpenFile& operator=(OpenFile&& other) noexcept {
        std::swap(file_, other.file_);
        return *this;
    }
    ~OpenFile() {
        if (file_ >= 0) Files::close(file_);
    }
    int get() const noexcept { return file_; }

    static OpenFile open(std::string const& path, int flags, mode_t mode = 0) {
        return OpenFile(uninterrupted([&] { return Files::open(path.c_str(), flags | O_CLOEXEC, mode); }));
    }

    /// A new file in a folder, which is locked, and its path.
    static std::pair<OpenFile, std::string> temporary(std::string const& folder, std::string const& path) {
        for (int k = 0;; ++k) {
            std::string name = temporary_path(folder);
            auto file = open(name, O_RDWR | O_CREAT | O_EXCL, 0666);
            if (file.get() < 0 && (errno != EEXIST || k == 1000)) throw_io("create", path);
            if (file.get() < 0) continue;
            bool kept = false;
            try {
                kept = lock_temporary<Files>(file.get(), path);
            } catch (...) {
                Files::unlink(name.c_str());
                throw;
            }
            if (kept) return {std::move(file), std::move(name)};
        }
    }

    void sync(std::string const& path) const {
        if (uninterrupted([&] { return Files::fsync(file_); }) != 0) throw_io("fsync", path);
    }

    /// errors   IoError, too, if it is not a regular file
    struct stat about(std::string const& path) const {
        struct stat is {};
        if (uninterrupted([&] { return Files::fstat(file_, is); }) != 0) throw_io("stat", path);
        if (!S_ISREG(is.st_mode)) throw IoError("open", path, "not a regular file", EINVAL);
        return is;
    }

    /// Whether a path names it.
    bool is_at(std::string const& path) const {
        struct stat is {};
        if (uninterrupted([&] { return Files::lstat(path.c_str(), is); }) != 0) {
            if (errno != ENOENT) throw_io("stat", path);
            return false;
        }
        auto const own = about(path);
        return is.st_dev == own.st_dev && is.st_ino == own.st_ino;
    }

    /// Locks it for as long as it is open, here or in a process forked from this.
    void lock(std::string const& path) const {
        if (!lock_file<Files>(file_, path))
            throw IoError("lock", path, "it is open, in this process or another", EWOULDBLOCK);
    }

    void write(std::uint64_t at, std::span<std::byte const> bytes, std::string const& path) const {
        if (::lseek(file_, static_cast<off_t>(at), SEEK_SET) < 0) throw_io("seek", path);
        while (!bytes.empty()) {
            ssize_t const n = uninterrupted([&] { return Files::write(file_, bytes.data(), bytes.size()); });
            if (n < 0) throw_io("write", path);
            if (n == 0) throw_io("write", path, ENOSPC);
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
    }

    /// Whether there are so many bytes.
    bool read(std::uint64_t at, std::span<std::byte> to, std::string const& path) const {
        while (!to.empty()) {
            ssize_t const n =
                uninterrupted([&] { return Files::pread(file_, to.data(), to.size(), static_cast<off_t>(at)); });
            if (n < 0) throw_io("read", path);
            if (n == 0) return false;
            to = to.subspan(static_cast<std::size_t>(n));
            at += static_cast<std::uint64_t>(n);
        }
        return true;
    }

    void resize(std::uint64_t n, std::string const& path) const {
        if (uninterrupted([&] { return ::ftruncate(file_, static_cast<off_t>(n)); }) != 0) throw_io("resize", path);
    }

private:
    int file_;
};

/// Writes the entry of a file in its folder to the disk.
/// errors   IoError if a system call fails
template <class Files>
void sync_folder_of(std::string const& path) {
    std::string const name = folder_of(path);
    auto const folder = OpenFile<Files>::open(name, O_RDONLY | O_DIRECTORY);
    if (folder.get() < 0) throw_io("open", name);
    folder.sync(name);
}

}  // namespace rowan::inline v0::detail
