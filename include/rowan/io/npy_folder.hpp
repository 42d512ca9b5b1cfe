// rowan/io/npy_folder.hpp: NpyFolder, tensors by name in a folder, which is what NumPy's .npz holds.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/npy_header.hpp>
#include <rowan/io/npy.hpp>

#include <cstddef>
#include <cstdio>
#include <map>
#include <span>
#include <string>
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
void check_npy_name(std::string const& name);

/// Makes sure that what was renamed in the folder of `path` stays so.
void sync_folder_of(std::string const& path);

}  // namespace detail

/// A folder with a file for each tensor, `name.npy`, as `unzip` makes of an .npz.
class NpyFolder {
public:
    /// Looks at the names. The files are read when they are asked for.
    /// errors   IoError if there is no such folder; FormatError if anything in it is not a regular file whose name ends with .npy
    /// cost     O(names * log names), and one question to the system for each
    explicit NpyFolder(std::string path);

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
    std::string file(std::string const& name) const;

    std::string path_;
    std::vector<std::string> names_;
};

/// Writes tensors, of different element types if need be, to a new folder: `save_npy_folder("model", {{"table", table}, {"ids", ids}})`.
/// The folder is there as a whole or not at all.
/// errors   Error if a name is empty, longer than 200 bytes, or has a slash or a zero in it; IoError if a folder of this name has
///          something in it, or the system refuses
/// cost     one write of the elements, which are not copied
void save_npy_folder(std::string const& path, std::map<std::string, NpyArray> const& arrays);

}  // namespace rowan::inline v0

#include <rowan/io/npy_folder_inl.hpp>
