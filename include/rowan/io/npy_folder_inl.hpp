// rowan/io/npy_folder_inl.hpp: definitions of rowan/io/npy_folder.hpp.
#pragma once

#include <rowan/io/npy_folder.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION ROWAN_RARE void sync_folder_of(std::string const& path) {
    std::string const name = folder_of(path);
    int const file = uninterrupted([&] { return ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (file < 0) throw_io("open", name);
    int const code = uninterrupted([&] { return ::fsync(file); }) != 0 ? errno : 0;
    ::close(file);
    if (code != 0) throw_io("fsync", name, code);
}

/// A locked temporary folder beside `target`, which is removed unless it is renamed to it.
class NewFolder {
public:
    explicit NewFolder(std::string const& target) : NewFolder() {
        target_ = target;
        remove_abandoned(folder_of(target));
        for (int k = 0; file_ < 0; ++k) {
            std::string path = temporary_path(folder_of(target));
            bool const made = ::mkdir(path.c_str(), 0777) == 0;
            if (!made && (errno != EEXIST || k == 1000)) throw_io("create", target);
            if (!made) continue;
            path_ = std::move(path);
            file_ = uninterrupted([&] { return ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
            if (file_ < 0 && (errno != ENOENT || k == 1000)) throw_io("create", target);
            if (file_ < 0 || !lock_temporary(file_, target)) discard();
        }
    }
    NewFolder(NewFolder const&) = delete;
    NewFolder& operator=(NewFolder const&) = delete;
    ~NewFolder() { discard(); }

    std::string const& path() const noexcept { return path_; }

    void rename() {
        if (::rename(path_.c_str(), target_.c_str()) != 0) throw_io("rename", target_);
        path_.clear();
    }

private:
    NewFolder() = default;

    void discard() {
        if (!path_.empty()) remove_temporary(path_);
        path_.clear();
        if (file_ >= 0) ::close(std::exchange(file_, -1));
    }

    std::string target_, path_;
    int file_ = -1;
};

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE NpyFolder::NpyFolder(std::string path)
    : path_(detail::checked_path("open", std::move(path))) {
    std::unique_ptr<DIR, decltype([](DIR* d) { ::closedir(d); })> const folder(::opendir(path_.c_str()));
    if (folder == nullptr) detail::throw_io("open", path_);
    for (errno = 0; dirent const* const entry = ::readdir(folder.get()); errno = 0) {
        std::string const name = entry->d_name;
        if (name == "." || name == "..") continue;
        struct stat about {};
        bool const regular = ::stat((path_ + "/" + name).c_str(), &about) == 0 && S_ISREG(about.st_mode);
        if (name.size() <= 4 || !name.ends_with(".npy") || !regular)
            throw FormatError(0, {path_, "/", name}, "is not a .npy file");
        names_.push_back(name.substr(0, name.size() - 4));
    }
    if (errno != 0) detail::throw_io("read", path_);
    std::ranges::sort(names_);
}

ROWAN_FUNCTION ROWAN_RARE std::string NpyFolder::file(std::string const& name) const {
    if (!std::ranges::binary_search(names_, name)) throw Error({path_, " has no tensor \"", name, "\""});
    return path_ + "/" + name + ".npy";
}

ROWAN_FUNCTION ROWAN_RARE void save_npy_folder(std::string const& path, std::map<std::string, NpyArray> const& arrays) {
    for (auto const& [name, array] : arrays) detail::check_file_name(name);
    std::string const folder = detail::checked_path("create", path).substr(0, path.find_last_not_of('/') + 1);
    detail::NewFolder part(folder);
    for (auto const& [name, array] : arrays) {
        detail::AtomicFile<> file(part.path() + "/" + name + ".npy");
        file.write(std::as_bytes(std::span(array.header())));
        file.write(array.elements());
        file.commit();
    }
    part.rename();
    detail::sync_folder_of(folder);
}

}  // namespace rowan::inline v0

#endif
