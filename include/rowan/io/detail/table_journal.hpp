// rowan/io/detail/table_journal.hpp: TableJournal, the old bytes of pages that change after a table is saved.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/detail/open_file.hpp>
#include <rowan/io/detail/table_layout.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class Files>
class TableJournal {
public:
    explicit TableJournal(std::string path) : path_(std::move(path)) {}

    std::string const& path() const noexcept { return path_; }
    bool empty() const noexcept { return bytes_ == 0; }
    std::uint64_t records() const noexcept { return bytes_ / table_record_bytes; }

    /// Opens and locks the file. Returns whether there is one.
    /// errors   IoError if a system call fails, or another table has locked it; FormatError if it has something else
    ///          than records of this table
    bool open(std::uint64_t id) {
        for (;;) {
            auto file = OpenFile<Files>::open(path_, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
            if (file.get() < 0) {
                if (errno != ENOENT) throw_io("open", path_);
                return false;
            }
            auto const size = file.about(path_).st_size;
            file.lock(path_);
            if (!file.is_at(path_)) continue;  // another process has removed it before it was locked
            std::array<std::byte, sizeof id> own, first{};
            std::memcpy(own.data(), &id, sizeof id);
            auto const n = std::min<std::size_t>(static_cast<std::size_t>(size), sizeof id);
            file.read(0, std::span(first).first(n), path_);
            // after a power failure the beginning may not have been written
            if (std::memcmp(first.data(), own.data(), n) != 0 && first != decltype(first){})
                throw FormatError(0, {"the journal ", path_}, "is not of this table: another's, or another file");
            keep(std::move(file));
            return true;
        }
    }

    /// Whether it begins with a record of this generation.
    /// errors   IoError if a system call fails
    bool is_of(std::uint64_t id, std::uint64_t generation) const {
        TableRecord first;
        return file_.get() >= 0 && file_.read(0, std::as_writable_bytes(std::span(&first, 1)), path_) &&
               first.id == id && first.generation == generation;
    }

    /// The pages of the records of a generation, in their order, up to the first that is not whole: the table knows how
    /// many it has relied on.
    /// errors   IoError if a system call fails; FormatError if the file's table was saved since, or a page is outside
    ///          of the table
    std::vector<std::uint64_t> scan(std::uint64_t id, std::uint64_t generation, std::uint64_t pages) {
        std::vector<std::uint64_t> found;
        if (file_.get() < 0) return found;
        std::array<std::byte, table_record_bytes> bytes;
        for (;;) {
            TableRecord record;
            std::uint64_t const at = found.size() * bytes.size();
            if (!file_.read(at, bytes, path_)) break;
            std::memcpy(&record, bytes.data(), sizeof record);
            if (record.id != id || record.sum != record.sum_with(std::span(bytes).subspan(sizeof record)) ||
                record.generation < generation)
                break;
            if (record.generation != generation) {
                throw FormatError(at, {"the journal ", path_},
                                  {"is of generation ", record.generation, ", and the table is of ", generation});
            }
            if (record.page >= pages)
                throw FormatError(at, {"the journal ", path_}, "has a page that the table has not");
            found.push_back(record.page);
        }
        bytes_ = found.size() * bytes.size();
        return found;
    }

    /// Reads the page of a record that scan has found.
    /// errors   IoError if a system call fails
    void read(std::size_t record, std::span<std::byte, table_page> to) const {
        if (!file_.read(record * table_record_bytes + sizeof(TableRecord), to, path_)) throw_io("read", path_, EIO);
    }

    /// Adds records. A new file has the rights of the table's. If it fails, the journal has those that it had, and
    /// perhaps others of pages as they are.
    /// errors   as open, but whatever the file has is not its own any more
    void append(std::span<std::byte const> records, std::uint64_t id, OpenFile<Files> const& table, bool power_safe) {
        bool const lost = bytes_ == 0 && file_.get() >= 0 && !file_.is_at(path_);  // somebody removed it
        if (file_.get() < 0 || lost) make(id, table);
        if (power_safe && !on_disk_) sync_folder_of<Files>(path_);
        on_disk_ = on_disk_ || power_safe;
        file_.write(bytes_, records, path_);
        bytes_ += records.size();
    }

    void sync() const { file_.sync(path_); }

    /// Removes all records.
    /// errors   IoError if a system call fails
    void clear() {
        if (file_.get() >= 0) file_.resize(0, path_);
        bytes_ = 0;
    }

    /// Gives the file another name: here is none from now on.
    /// errors   IoError if a system call fails
    void move_to(std::string const& path) {
        if (Files::rename(path_.c_str(), path.c_str()) != 0) throw_io("rename", path_);
        keep(OpenFile<Files>());
        bytes_ = 0;
    }

    /// Removes the file, which has no records, unless the path is another file's now.
    void remove() noexcept {
        try {
            if (file_.get() >= 0 && file_.is_at(path_)) Files::unlink(path_.c_str());
        } catch (...) {  // an empty file remains
        }
    }

private:
    void make(std::uint64_t id, OpenFile<Files> const& table) {
        auto const rights = table.about(path_);
        while (!open(id)) {
            auto file = OpenFile<Files>::open(path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
            if (file.get() < 0 && errno != EEXIST) throw_io("create", path_);
            if (file.get() < 0) continue;
            file.lock(path_);
            keep_rights<Files>(file.get(), path_, rights);
            if (!file.is_at(path_)) continue;
            keep(std::move(file));
            return;
        }
        clear();
    }

    void keep(OpenFile<Files> file) {
        file_ = std::move(file);
        on_disk_ = false;
    }

    std::string path_;
    OpenFile<Files> file_;
    std::uint64_t bytes_ = 0;
    bool on_disk_ = false;  // whether its entry in the folder is
};

}  // namespace rowan::inline v0::detail
