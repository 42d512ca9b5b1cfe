// rowan/io/detail/file.hpp: InputFile, for reading and mapping files, and AtomicFile, which replaces a file atomically.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// The system calls that file functions use. Tests replace them with ones that fail.
struct PosixFiles {
    static ssize_t pread(int file, void* to, std::size_t n, off_t offset);
    static int open(char const* path, int flags, mode_t mode);
    static ssize_t write(int file, void const* bytes, std::size_t n);
    static int fsync(int file);
    static int close(int file);
    static int rename(char const* from, char const* to);
    static int unlink(char const* path);
};

[[noreturn]] void throw_io(char const* operation, std::string const& path, int code = errno);

/// Repeats a system call while it fails with EINTR.
template <class Call>
auto uninterrupted(Call const& call) {
    for (;;) {
        auto const result = call();
        if (result >= 0 || errno != EINTR) return result;
    }
}

/// A regular file that is open for reading.
class InputFile {
public:
    /// errors   IoError if it cannot be opened or is not a regular file
    explicit InputFile(std::string path);
    InputFile(InputFile const&) = delete;
    InputFile& operator=(InputFile const&) = delete;
    ~InputFile();

    std::string const& path() const noexcept { return path_; }
    std::uint64_t size() const noexcept { return size_; }
    int descriptor() const noexcept { return file_; }

    /// Fills `to` with the bytes from `offset` on.
    /// errors   IoError if a system call fails or the file has become shorter
    template <class Files = PosixFiles>
    void read(std::uint64_t offset, std::span<std::byte> to) const {
        while (!to.empty()) {
            ssize_t const n =
                uninterrupted([&] { return Files::pread(file_, to.data(), to.size(), static_cast<off_t>(offset)); });
            if (n < 0) throw_io("read", path_);
            if (n == 0) throw IoError("read", path_, "the file has become shorter", EIO);
            to = to.subspan(static_cast<std::size_t>(n));
            offset += static_cast<std::uint64_t>(n);
        }
    }

    /// Maps n bytes from `offset` on, copy-on-write: they are read on access, and writes do not change the file.
    /// requires   the file is not truncated while they are in use
    /// errors   IoError if a system call fails
    std::shared_ptr<std::byte> map(std::uint64_t offset, std::size_t n) const;

private:
    std::string path_;
    int file_;
    std::uint64_t size_ = 0;
};

/// Reads a whole file.
Buffer<std::byte> read_file(std::string const& path);

/// Replaces a file atomically: a temporary file in the same folder is written, flushed and renamed. Unless `commit` is
/// called, the old file is unchanged. The destructor removes a temporary file that was not renamed.
template <class Files = PosixFiles>
class AtomicFile {
public:
    explicit AtomicFile(std::string path) : path_(std::move(path)) {
        for (int k = 0; file_ < 0; ++k) {
            part_ = path_ + "." + std::to_string(::getpid()) + "." + std::to_string(k) + ".part";
            file_ = open(part_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
            if (file_ < 0 && (errno != EEXIST || k == 1000)) throw_io("create", part_);
        }
    }
    AtomicFile(AtomicFile const&) = delete;
    AtomicFile& operator=(AtomicFile const&) = delete;
    ~AtomicFile() {
        if (file_ >= 0) Files::close(file_);
        if (!part_.empty()) Files::unlink(part_.c_str());
    }

    /// errors   IoError if a system call fails
    void write(std::span<std::byte const> bytes) {
        while (!bytes.empty()) {
            ssize_t const n = uninterrupted([&] { return Files::write(file_, bytes.data(), bytes.size()); });
            if (n < 0) throw_io("write", part_);
            if (n == 0) throw_io("write", part_, ENOSPC);
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
    }

    /// errors   IoError if a system call fails: the old file is then unchanged, or already replaced if only the fsync
    ///          of its folder failed
    void commit() {
        std::size_t const slash = path_.rfind('/');
        std::string const name = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
        struct Folder {
            int file;
            ~Folder() {
                if (file >= 0) Files::close(file);
            }
        } const folder{open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (folder.file < 0) throw_io("open", name);
        if (fsync(file_) != 0) throw_io("fsync", part_);
        if (Files::close(std::exchange(file_, -1)) != 0) throw_io("close", part_);
        if (Files::rename(part_.c_str(), path_.c_str()) != 0) throw_io("rename", part_);
        part_.clear();
        if (fsync(folder.file) != 0) throw_io("fsync", name);
    }

private:
    static int open(std::string const& path, int flags) {
        return uninterrupted([&] { return Files::open(path.c_str(), flags, 0666); });
    }
    static int fsync(int file) {
        return uninterrupted([&] { return Files::fsync(file); });
    }

    std::string path_, part_;
    int file_ = -1;
};

/// Writes a whole file atomically.
void write_file(std::string const& path, std::span<std::byte const> bytes);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/file_inl.hpp>
