// rowan/io/npy.hpp: load_npy and save_npy, tensors in NumPy's .npy files.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/file_reader.hpp>
#include <rowan/io/detail/npy_header.hpp>
#include <rowan/io/detail/read_elements.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// "<f4". Element types that NumPy does not have are void of their size, as are those of the package ml_dtypes: "<V2".
template <class T>
std::string npy_type() {
    constexpr char kind = std::is_same_v<T, bool>                                              ? 'b'
                          : std::is_same_v<T, std::uint8_t>                                    ? 'u'
                          : std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ? 'i'
                          : std::is_floating_point_v<T> || std::is_same_v<T, float16>          ? 'f'
                                                                                               : 'V';
    bool const one_byte = sizeof(T) == 1 && kind != 'V';
    return std::string(one_byte ? "|" : "<") + kind + std::to_string(sizeof(T));
}

/// Single bytes and void have no byte order: '<' and '|' are then equivalent.
template <class T>
bool is_npy_type(std::string const& found) {
    std::string const own = npy_type<T>();
    if (found == own) return true;
    bool const no_order = sizeof(T) == 1 || own[1] == 'V';
    return no_order && (found[0] == '<' || found[0] == '|') && found.substr(1) == own.substr(1);
}

/// Reads elements in Fortran order (column-major, the first index varies fastest) into the row-major `to`, through a
/// buffer of 256 KiB.
template <class T, class Reader>
void read_fortran_order(Reader& in, Tensor<T>& to) {
    auto const& shape = to.shape();
    auto chunk = Tensor<T>::from_shape({std::min(to.size(), (std::size_t{1} << 18) / sizeof(T) + 1)});
    std::array<std::size_t, Tensor<T>::max_rank> index{}, stride{};
    for (std::size_t dim = 0; dim < shape.size(); ++dim) stride[dim] = product_from(shape, dim + 1);
    std::size_t place = 0;
    for (std::size_t left = to.size(); left != 0;) {
        std::size_t const n = std::min(left, chunk.size());
        read_elements(in, "the data", std::span(chunk.data(), n));
        for (T const& x : std::span(chunk.data(), n)) {
            to.data()[place] = x;
            for (std::size_t dim = 0; dim < shape.size(); ++dim) {
                place += stride[dim];
                if (++index[dim] < shape[dim]) break;
                place -= stride[dim] * shape[dim];
                index[dim] = 0;
            }
        }
        left -= n;
    }
}

template <class T, class Reader>
Tensor<T> read_npy(Reader& in) {
    NpyHeader const header = read_npy_header(in);
    if (!is_npy_type<T>(header.type)) throw TypeError("the file's element type", header.type, npy_type<T>());
    std::uint64_t const begin = in.position();
    std::uint64_t const bytes = element_bytes<T>(begin, "the shape", header.shape, in.left());
    check_end("the file", in.left() - bytes, begin + bytes);
    auto tensor = Tensor<T>::from_shape({header.shape.begin(), header.shape.end()});
    if (header.fortran_order) {
        read_fortran_order(in, tensor);
    } else {
        read_elements(in, "the data", std::span(tensor.data(), tensor.size()));
    }
    return tensor;
}

}  // namespace detail

/// The header of the .npy file at `path`, for any element type. The elements are not read.
/// errors   IoError if it cannot be read; FormatError if its header is damaged or describes a structured type
/// cost     one read of the header
NpyHeader describe_npy(std::string const& path);

/// Reads a tensor from a .npy file of version 1, 2 or 3, in C or Fortran order. bfloat16 and user-defined types, which
/// NumPy does not have, are stored as by ml_dtypes: as void of their size, such as `<V2`, which Python converts with
/// `.view(ml_dtypes.bfloat16)`.
/// shapes   as in the file
/// errors   IoError if the file cannot be read; TypeError if its elements are not T or are big-endian; FormatError if
///          the file violates the format in any other way: missing or extra bytes, a bool other than 0 and 1, more than
///          8 dims
/// cost     elements in C order are read directly into the tensor; nothing is allocated for elements that are missing
template <class T>
Tensor<T> load_npy(std::string const& path) {
    detail::InputFile const file(path);
    detail::FileReader in(file);
    return detail::read_npy<T>(in);
}

/// As load_npy, for a file in memory.
template <class T>
Tensor<T> from_npy(std::span<std::byte const> bytes) {
    detail::ByteReader in(bytes);
    return detail::read_npy<T>(in);
}

/// The bytes that NumPy's `save` writes for this array.
/// shapes   any
/// errors   none
/// cost     one copy of the elements
template <class T>
std::vector<std::byte> to_npy(Tensor<T> const& tensor) {
    auto const header = detail::npy_header_text(detail::npy_type<T>(), tensor.shape());
    auto const head = std::as_bytes(std::span(header));
    auto const elements = std::as_bytes(std::span(tensor.data(), tensor.size()));
    std::vector<std::byte> bytes(head.size() + elements.size());
    std::ranges::copy(elements, std::ranges::copy(head, bytes.begin()).out);
    return bytes;
}

/// Writes a tensor to a .npy file, atomically: the file is written completely or stays unchanged.
/// shapes   any
/// errors   IoError if the file cannot be written
/// cost     one write of the elements, which are not copied
template <class T>
void save_npy(std::string const& path, Tensor<T> const& tensor) {
    auto const header = detail::npy_header_text(detail::npy_type<T>(), tensor.shape());
    detail::AtomicFile<> file(path);
    file.write(std::as_bytes(std::span(header)));
    file.write(std::as_bytes(std::span(tensor.data(), tensor.size())));
    file.commit();
}

}  // namespace rowan::inline v0

#include <rowan/io/npy_inl.hpp>
