// rowan/io/npy_folder.hpp: NpyFolder, named tensors in a folder, the contents of NumPy's .npz.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/naming_file.hpp>
#include <rowan/io/detail/npy_header.hpp>
#include <rowan/io/npy.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A non-owning reference to a tensor of any element type, to be written.
/// requires   the tensor outlives it; use it only as a parameter
class NpyArray {
public:
    /// Refers to the elements of `tensor`.
    template <class T>
    NpyArray(Tensor<T> const& tensor)
        : header_(detail::npy_header_text(detail::npy_type<T>(), tensor.shape())),
          elements_(std::as_bytes(std::span(tensor.data(), tensor.size()))) {}

    std::string const& header() const& noexcept { return header_; }  ///< the bytes before the elements in a file
    std::string header() && noexcept { return std::move(header_); }
    std::span<std::byte const> elements() const noexcept { return elements_; }  ///< the elements in memory

private:
    std::string header_;
    std::span<std::byte const> elements_;
};

namespace detail {

/// Flushes the folder of `path` (fsync), so that a rename in it is durable.
void sync_folder_of(std::string const& path);

}  // namespace detail

/// A folder with one file per tensor, `name.npy`, such as `unzip` makes from an .npz.
class NpyFolder {
public:
    /// Lists the names. The files are read on demand.
    /// errors   IoError if there is no such folder; FormatError if it contains anything but regular files whose names
    ///          end with .npy
    /// cost     O(names * log names), and one stat per name
    explicit NpyFolder(std::string path);

    /// The names of the tensors, ascending.
    std::vector<std::string> const& names() const& noexcept { return names_; }
    std::vector<std::string> names() && noexcept { return std::move(names_); }

    /// Loads the tensor of that name.
    /// errors   Error if there is no tensor of that name; those of load_npy, where a FormatError names the file
    /// cost     as load_npy
    template <class T>
    Tensor<T> load(std::string const& name) const {
        auto const path = file(name);
        return detail::naming_file(path, [&] { return load_npy<T>(path); });
    }

    /// The header of the tensor of that name.
    /// errors   Error if there is no tensor of that name; those of describe_npy
    /// cost     as describe_npy
    NpyHeader describe(std::string const& name) const {
        auto const path = file(name);
        return detail::naming_file(path, [&] { return describe_npy(path); });
    }

private:
    std::string file(std::string const& name) const;

    std::string path_;
    std::vector<std::string> names_;
};

/// Writes tensors of any element types to a new folder: `save_npy_folder("model", {{"table", table}, {"ids", ids}})`.
/// The folder is created atomically, with all of its files or not at all.
/// errors   Error if a name is empty, longer than 200 bytes, or contains a slash or NUL; IoError if `path` is a folder
///          that is not empty, or a system call fails
/// cost     one write of the elements, which are not copied
void save_npy_folder(std::string const& path, std::map<std::string, NpyArray> const& arrays);

}  // namespace rowan::inline v0

#include <rowan/io/npy_folder_inl.hpp>
