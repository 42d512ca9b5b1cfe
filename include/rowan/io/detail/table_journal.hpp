// rowan/io/detail/table_journal.hpp: TableJournal, the old bytes of pages that change after a table is saved.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/table_layout.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0::detail {

/// A file that is open, or none.
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
    /// errors   IoError if a system call fails
    void sync(std::string const& path) const {
        if (uninterrupted([&] { return Files::fsync(file_); }) != 0) throw_io("fsync", path);
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

template <class Files>
class TableJournal {
public:
    explicit TableJournal(std::string path) : path_(std::move(path)) {}

    bool empty() const noexcept { return bytes_ == 0; }

    /// Calls restore(page, bytes) for each record of a generation, and returns their number. Records end with the first
    /// that is not whole: the page of that one had not changed.
    /// errors   IoError if a system call fails; FormatError if the file's table was saved since, or a page is outside
    ///          of the table
    template <class Restore>
    std::size_t replay(std::uint64_t id, std::uint64_t generation, std::uint64_t pages, Restore const& restore) {
        file_ = OpenFile<Files>::open(path_, O_RDWR);
        if (file_.get() < 0) {
            if (errno != ENOENT) throw_io("open", path_);
            return 0;
        }
        std::array<std::byte, table_record_bytes> bytes;
        auto const page = std::span(bytes).subspan(sizeof(TableRecord));
        std::size_t n = 0;
        for (;; ++n) {
            TableRecord record;
            if (!read(n * bytes.size(), bytes)) break;
            std::memcpy(&record, bytes.data(), sizeof record);
            if (record.id != id || record.sum != record.sum_with(page) || record.generation < generation) break;
            if (record.generation != generation) {
                throw FormatError(n * bytes.size(), "the journal " + path_,
                                  "is of generation " + std::to_string(record.generation) + ", and the table is of " +
                                      std::to_string(generation));
            }
            if (record.page >= pages)
                throw FormatError(n * bytes.size(), "the journal " + path_, "has a page that the table has not");
            restore(record.page, page);
        }
        bytes_ = n * bytes.size();
        return n;
    }

    /// Adds records. If it fails, the journal has those that it had, and perhaps others of pages as they are.
    /// errors   IoError if a system call fails
    void append(std::span<std::byte const> records, bool power_safe) {
        if (file_.get() < 0) {
            auto file = OpenFile<Files>::open(path_, O_RDWR | O_CREAT | O_TRUNC, 0666);
            if (file.get() < 0) throw_io("create", path_);
            if (power_safe) sync_folder_of<Files>(path_);
            file_ = std::move(file);
        }
        if (::lseek(file_.get(), static_cast<off_t>(bytes_), SEEK_SET) < 0) throw_io("seek", path_);
        for (auto left = records; !left.empty();) {
            ssize_t const n = uninterrupted([&] { return Files::write(file_.get(), left.data(), left.size()); });
            if (n < 0) throw_io("write", path_);
            if (n == 0) throw_io("write", path_, ENOSPC);
            left = left.subspan(static_cast<std::size_t>(n));
        }
        bytes_ += records.size();
    }

    void sync() const { file_.sync(path_); }

    /// Removes all records.
    /// errors   IoError if a system call fails
    void clear() {
        if (file_.get() >= 0 && uninterrupted([&] { return ::ftruncate(file_.get(), 0); }) != 0)
            throw_io("resize", path_);
        bytes_ = 0;
    }

    /// Removes the file, which has no records.
    void remove() noexcept {
        if (file_.get() >= 0) Files::unlink(path_.c_str());
    }

private:
    /// Whether there are so many bytes.
    bool read(std::uint64_t at, std::span<std::byte> to) const {
        while (!to.empty()) {
            ssize_t const n =
                uninterrupted([&] { return Files::pread(file_.get(), to.data(), to.size(), static_cast<off_t>(at)); });
            if (n < 0) throw_io("read", path_);
            if (n == 0) return false;
            to = to.subspan(static_cast<std::size_t>(n));
            at += static_cast<std::uint64_t>(n);
        }
        return true;
    }

    std::string path_;
    OpenFile<Files> file_;
    std::uint64_t bytes_ = 0;
};

}  // namespace rowan::inline v0::detail
