// rowan/io/detail/page_file.hpp: PageFile, a file that is read in pages, past the system's cache where it can be.
#pragma once

#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/page_cache.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// A file that is read in pages of PageCache::page_bytes: with O_DIRECT if the file system takes it, otherwise through
/// the system's cache and without readahead.
template <class Files = PosixFiles>
class PageFile {
public:
    static constexpr int shorter = -1;  ///< of read: the file has become shorter

    /// errors   IoError if a system call fails
    explicit PageFile(std::shared_ptr<InputFile const> file) : file_(std::move(file)), opened_(about(descriptor())) {
#ifdef O_DIRECT
        int const again =
            uninterrupted([&] { return Files::open(path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECT, 0); });
        if (again >= 0) {
            direct_ = again;
            struct stat now {};
            if (Files::fstat(again, now) == 0 && now.st_dev == opened_.st_dev && now.st_ino == opened_.st_ino) return;
            Files::close(again);  // the path names another file
        }
#endif
        direct_ = -1;
        ::posix_fadvise(descriptor(), 0, 0, POSIX_FADV_RANDOM);
    }
    PageFile(PageFile const&) = delete;
    PageFile& operator=(PageFile const&) = delete;
    ~PageFile() {
        if (direct_ >= 0) Files::close(direct_);
    }

    std::string const& path() const noexcept { return file_->path(); }
    std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(opened_.st_size); }

    /// errors   IoError if the size or the time of the last change is not what it was
    void check_unchanged() const {
        struct stat const now = about(descriptor());
        if (now.st_size < opened_.st_size) fail(shorter);
        if (now.st_size != opened_.st_size || now.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec)
            throw IoError("read", path(), "the file has changed since it was opened", EIO);
    }

    /// Reads a page, or the part of it that the file has. `to` is aligned to the size of a page. Returns 0, an error
    /// of the system, or `shorter`.
    int read(std::uint64_t page, std::byte* to) const noexcept {
        std::uint64_t const at = page * PageCache::page_bytes;
        if (at >= size()) return shorter;
        auto const want = static_cast<ssize_t>(std::min<std::uint64_t>(PageCache::page_bytes, size() - at));
        for (int tries = 0;; ++tries) {  // a read that ends early begins again: its rest would not be aligned
            bool const direct = direct_ >= 0 && is_direct_;
            ssize_t const n = uninterrupted([&] {
                return Files::pread(direct ? direct_ : descriptor(), to, PageCache::page_bytes, static_cast<off_t>(at));
            });
            if (n >= want) return 0;
            if (n >= 0 && tries == 2) return shorter;
            if (n >= 0) continue;
            if (errno != EINVAL || !direct) return errno;
            is_direct_ = false;  // the device has larger blocks
            ::posix_fadvise(descriptor(), 0, 0, POSIX_FADV_RANDOM);
        }
    }

    /// Throws IoError for what `read` has returned.
    [[noreturn]] void fail(int code) const {
        if (code == shorter) throw IoError("read", path(), "the file has become shorter", EIO);
        throw_io("read", path(), code);
    }

private:
    int descriptor() const noexcept { return file_->descriptor(); }

    struct stat about(int file) const {
        struct stat about {};
        if (uninterrupted([&] { return Files::fstat(file, about); }) != 0) throw_io("stat", path());
        return about;
    }

    std::shared_ptr<InputFile const> file_;
    struct stat opened_;
    int direct_ = -1;
    mutable std::atomic<bool> is_direct_{true};
};

}  // namespace rowan::inline v0::detail
