// rowan/io/npy_folder.hpp: NpyFolder, tensors by name in a folder, which is what NumPy's .npz holds.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/file.hpp>
#include <rowan/detail/npy_header.hpp>
#include <rowan/io/npy.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A tensor of any element type that is to be written.
/// requires   as a parameter only: it refers to the tensor's elements
class NpyArray {
public:
    /// An alias of the tensor.
    template <class T>
    NpyArray(Tensor<T> const& tensor)
        : header_(detail::npy_header_text(detail::npy_type<T>(), tensor.shape())),
          elements_(std::as_bytes(std::span(tensor.data(), tensor.size()))) {}

    std::string const& header() const noexcept { return header_; }  ///< what stands before the elements in a file
    std::span<std::byte const> elements() const noexcept { return elements_; }  ///< as they are in memory

private:
    std::string header_;
    std::span<std::byte const> elements_;
};

namespace detail {

/// errors   Error unless `name`.npy can be a file of a folder
inline void check_npy_name(std::string const& name) {
    auto const refuse = [&](char const* why) { throw Error("the name \"" + name + "\" " + why); };
    if (name.empty()) refuse("is empty");
    if (name.size() > 200) refuse("is longer than 200 bytes");
    if (name.find('/') != name.npos || name.find('\0') != name.npos)
        refuse("has a character that no file's name may have");
}

/// Makes sure that what was renamed in the folder of `path` stays so.
inline void sync_folder_of(std::string const& path) {
    std::size_t const slash = path.rfind('/');
    std::string const name = slash == path.npos ? "." : path.substr(0, slash + 1);
    int const file = uninterrupted([&] { return ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (file < 0) throw_io("open", name);
    int const code = uninterrupted([&] { return ::fsync(file); }) != 0 ? errno : 0;
    ::close(file);
    if (code != 0) throw_io("fsync", name, code);
}

}  // namespace detail

/// A folder with a file for each tensor, `name.npy`, as `unzip` makes of an .npz.
class NpyFolder {
public:
    /// Looks at the names. The files are read when they are asked for.
    /// errors   IoError if there is no such folder; FormatError if anything in it is not a regular file whose name ends with .npy
    /// cost     O(names * log names), and one question to the system for each
    explicit NpyFolder(std::string path) : path_(std::move(path)) {
        std::unique_ptr<DIR, decltype([](DIR* d) { ::closedir(d); })> const folder(::opendir(path_.c_str()));
        if (folder == nullptr) detail::throw_io("open", path_);
        for (errno = 0; dirent const* const entry = ::readdir(folder.get()); errno = 0) {
            std::string const name = entry->d_name;
            if (name == "." || name == "..") continue;
            struct stat about {};
            bool const regular = ::stat((path_ + "/" + name).c_str(), &about) == 0 && S_ISREG(about.st_mode);
            if (name.size() <= 4 || !name.ends_with(".npy") || !regular)
                throw FormatError(0, path_ + "/" + name, "is not a .npy file");
            names_.push_back(name.substr(0, name.size() - 4));
        }
        if (errno != 0) detail::throw_io("read", path_);
        std::ranges::sort(names_);
    }

    /// In ascending order.
    std::vector<std::string> const& names() const noexcept { return names_; }

    /// The tensor of that name.
    /// errors   Error if there is none; those of load_npy
    /// cost     as load_npy
    template <class T>
    Tensor<T> load(std::string const& name) const {
        return load_npy<T>(file(name));
    }

    /// errors   Error if there is no tensor of that name; those of describe_npy
    /// cost     as describe_npy
    NpyHeader describe(std::string const& name) const { return describe_npy(file(name)); }

private:
    std::string file(std::string const& name) const {
        if (!std::ranges::binary_search(names_, name)) throw Error(path_ + " has no tensor \"" + name + "\"");
        return path_ + "/" + name + ".npy";
    }

    std::string path_;
    std::vector<std::string> names_;
};

/// Writes tensors, of different element types if need be, to a new folder: `save_npy_folder("model", {{"table", table}, {"ids", ids}})`.
/// The folder is there as a whole or not at all.
/// errors   Error if a name is empty, longer than 200 bytes, or has a slash or a zero in it; IoError if a folder of this name has
///          something in it, or the system refuses
/// cost     one write of the elements, which are not copied
inline void save_npy_folder(std::string const& path, std::map<std::string, NpyArray> const& arrays) {
    for (auto const& [name, array] : arrays) detail::check_npy_name(name);
    std::string const folder = path.substr(0, path.find_last_not_of('/') + 1);
    std::string part;
    for (int k = 0;; ++k) {
        part = folder + "." + std::to_string(::getpid()) + "." + std::to_string(k) + ".part";
        if (::mkdir(part.c_str(), 0777) == 0) break;
        if (errno != EEXIST || k == 1000) detail::throw_io("create", part);
    }
    try {
        for (auto const& [name, array] : arrays) {
            detail::AtomicFile<> file(part + "/" + name + ".npy");
            file.write(std::as_bytes(std::span(array.header())));
            file.write(array.elements());
            file.commit();
        }
        if (::rename(part.c_str(), folder.c_str()) != 0) detail::throw_io("rename", part);
    } catch (...) {
        for (auto const& [name, array] : arrays) ::unlink((part + "/" + name + ".npy").c_str());
        ::rmdir(part.c_str());
        throw;
    }
    detail::sync_folder_of(folder);
}

}  // namespace rowan::inline v0
