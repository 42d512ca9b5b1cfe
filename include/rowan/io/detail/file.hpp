// rowan/io/detail/file.hpp: InputFile, for reading and mapping files, and AtomicFile, which replaces a file atomically.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
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
    ROWAN_IF_CALLED static ssize_t pread(int file, void* to, std::size_t n, off_t offset);
    ROWAN_IF_CALLED static int open(char const* path, int flags, mode_t mode);
    ROWAN_IF_CALLED static ssize_t write(int file, void const* bytes, std::size_t n);
    ROWAN_IF_CALLED static int fsync(int file);
    ROWAN_IF_CALLED static int close(int file);
    ROWAN_IF_CALLED static int rename(char const* from, char const* to);
    ROWAN_IF_CALLED static int unlink(char const* path);
    ROWAN_IF_CALLED static int lstat(char const* path, struct stat& about);
    ROWAN_IF_CALLED static int fstat(int file, struct stat& about);
    ROWAN_IF_CALLED static ssize_t readlink(char const* path, char* to, std::size_t n);
    ROWAN_IF_CALLED static int flock(int file, int operation);
    ROWAN_IF_CALLED static int fchown(int file, uid_t owner, gid_t group);
    ROWAN_IF_CALLED static int fchmod(int file, mode_t mode);
};

ROWAN_IF_CALLED [[noreturn]] void throw_io(char const* operation, std::string const& path, int code = errno);

/// Repeats a system call while it fails with EINTR.
template <class Call>
auto uninterrupted(Call const& call) {
    for (;;) {
        auto const result = call();
        if (result >= 0 || errno != EINTR) return result;
    }
}

/// errors   IoError if the path has a byte 0, where the system would cut it
std::string checked_path(char const* operation, std::string path);

/// errors   Error unless it can be the name of a file in a folder, with a few more characters: it is empty, longer than
///          200 bytes, or has a slash or NUL
ROWAN_IF_CALLED void check_file_name(std::string const& name);

/// The folder of a path, with a slash at its end.
ROWAN_IF_CALLED std::string folder_of(std::string const& path);

/// The path of a new temporary file or folder in a folder. The name is short and cannot be guessed.
ROWAN_IF_CALLED std::string temporary_path(std::string const& folder);

/// Removes a file, or a folder of files.
ROWAN_IF_CALLED void remove_temporary(std::string const& path);

/// Removes the temporary files and folders that killed processes left in a folder: those without a lock.
ROWAN_IF_CALLED void remove_abandoned(std::string const& folder);

/// Locks a file or folder. Returns whether nobody else had locked it. On a file system without locks it is true.
/// errors   IoError if a system call fails
template <class Files = PosixFiles>
bool lock_file(int file, std::string const& path) {
    if (uninterrupted([&] { return Files::flock(file, LOCK_EX | LOCK_NB); }) == 0) return true;
    if (errno != EWOULDBLOCK && errno != ENOSYS && errno != EOPNOTSUPP && errno != ENOLCK) throw_io("lock", path);
    return errno != EWOULDBLOCK;
}

/// Locks a new temporary file or folder, so that remove_abandoned keeps it. Returns whether it still exists: between
/// its creation and the lock another process may have removed it. On a file system without locks, nothing is removed.
/// errors   IoError if a system call fails
template <class Files = PosixFiles>
bool lock_temporary(int file, std::string const& path) {
    if (!lock_file<Files>(file, path)) return false;
    struct stat about {};
    if (uninterrupted([&] { return Files::fstat(file, about); }) != 0) throw_io("stat", path);
    return about.st_nlink != 0;
}

/// Gives a file the mode of another, and its owner and group where the system permits.
/// errors   IoError if a system call fails
template <class Files>
void keep_rights(int file, std::string const& path, struct stat const& of) {
    if (uninterrupted([&] { return Files::fchmod(file, of.st_mode & 0777); }) != 0) throw_io("chmod", path);
    auto const same = static_cast<uid_t>(-1);
    if (Files::fchown(file, of.st_uid, of.st_gid) != 0) Files::fchown(file, same, of.st_gid);
}

/// A regular file that is open for reading.
class InputFile {
public:
    /// errors   IoError if it cannot be opened or is not a regular file
    ROWAN_IF_CALLED explicit InputFile(std::string path);
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

/// The open file of a CheckpointFile, SafetensorsFile or GgufFile.
struct OpenedFile {
    /// What has read its header. It lives as long as the file.
    template <class F>
    static auto const& reader(F const& file) {
        return *file.state_;
    }
    /// It keeps the file alive.
    template <class F>
    static std::shared_ptr<InputFile const> of(F const& file) {
        return {file.state_, &file.state_->file};
    }
};

/// Reads a whole file.
ROWAN_IF_CALLED Buffer<std::byte> read_file(std::string const& path);

/// Makes `copy` hold what a file holds, atomically: as another name of it where the file system has links. Nothing if
/// there is no such file.
/// errors   IoError if a system call fails
ROWAN_IF_CALLED void keep_file(std::string const& path, std::string const& copy);

/// Replaces a file atomically: a temporary file in the same folder is written, flushed and renamed. Unless `commit` is
/// called, the old file is unchanged. The destructor removes a temporary file that was not renamed; the next save in
/// the folder removes one whose process was killed. The new file has the mode of the old one, and its owner and group
/// where the system permits; if there is no old file, the umask applies. A symbolic link remains, and the file that it
/// names is replaced. Other hard links to the old file keep the old contents.
template <class Files = PosixFiles>
class AtomicFile {
public:
    /// errors   IoError if the path has a byte 0 or names anything but a regular file, or a system call fails
    explicit AtomicFile(std::string path) : AtomicFile() {
        path_ = checked_path("create", std::move(path));
        struct stat old {};
        bool const replaces = find_target(old);
        std::string const folder = folder_of(path_);
        remove_abandoned(folder);
        for (int k = 0; file_ < 0; ++k) {
            std::string part = temporary_path(folder);
            file_ = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
            if (file_ < 0 && (errno != EEXIST || k == 1000)) throw_io("create", path_);
            if (file_ < 0) continue;
            part_ = std::move(part);
            if (!lock_temporary<Files>(file_, path_)) discard();
        }
        if (replaces) keep_rights<Files>(file_, path_, old);
    }
    AtomicFile(AtomicFile const&) = delete;
    AtomicFile& operator=(AtomicFile const&) = delete;
    ~AtomicFile() { discard(); }

    /// errors   IoError if a system call fails
    void write(std::span<std::byte const> bytes) {
        while (!bytes.empty()) {
            ssize_t const n = uninterrupted([&] { return Files::write(file_, bytes.data(), bytes.size()); });
            if (n < 0) throw_io("write", path_);
            if (n == 0) throw_io("write", path_, ENOSPC);
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
    }

    /// Replaces the old file, which `keep`, a path in the same folder, holds from then on if it is not empty.
    /// errors   IoError if a system call fails: the old file is then unchanged, or already replaced if only the fsync
    ///          of its folder failed
    void commit(std::string const& keep = {}) {
        std::string const name = folder_of(path_);
        struct Folder {
            int file;
            ~Folder() {
                if (file >= 0) Files::close(file);
            }
        } const folder{open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (folder.file < 0) throw_io("open", name);
        if (fsync(file_) != 0) throw_io("fsync", path_);
        if (!keep.empty()) keep_file(path_, keep);
        if (Files::rename(part_.c_str(), path_.c_str()) != 0) throw_io("rename", path_);
        part_.clear();
        if (fsync(folder.file) != 0) throw_io("fsync", name);
    }

private:
    AtomicFile() = default;

    /// Follows symbolic links, of which at most 40 in a row. Returns whether the file exists.
    bool find_target(struct stat& about) {
        for (int links = 0;; ++links) {
            if (uninterrupted([&] { return Files::lstat(path_.c_str(), about); }) != 0) {
                if (errno != ENOENT) throw_io("create", path_);
                return false;
            }
            if (!S_ISLNK(about.st_mode)) break;
            char to[PATH_MAX];
            ssize_t const n = uninterrupted([&] { return Files::readlink(path_.c_str(), to, sizeof to); });
            if (n < 0) throw_io("create", path_);
            if (links == 40) throw_io("create", path_, ELOOP);
            std::string const target(to, static_cast<std::size_t>(n));
            path_ = target.starts_with('/') ? target : folder_of(path_) + target;
        }
        if (!S_ISREG(about.st_mode)) throw IoError("create", path_, "not a regular file", EINVAL);
        return true;
    }

    void discard() {
        if (!part_.empty()) Files::unlink(part_.c_str());
        part_.clear();
        if (file_ >= 0) Files::close(std::exchange(file_, -1));
    }

    static int open(std::string const& path, int flags, mode_t mode = 0) {
        return uninterrupted([&] { return Files::open(path.c_str(), flags, mode); });
    }
    static int fsync(int file) {
        return uninterrupted([&] { return Files::fsync(file); });
    }

    std::string path_, part_;
    int file_ = -1;
};

/// Writes a whole file atomically.
ROWAN_IF_CALLED void write_file(std::string const& path, std::span<std::byte const> bytes);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/file_inl.hpp>
