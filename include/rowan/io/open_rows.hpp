// rowan/io/open_rows.hpp: open_rows, a table that stays in its file.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/file.hpp>
#include <rowan/io/detail/row_sources.hpp>
#include <rowan/io/row_store.hpp>
#include <rowan/io/row_store_options.hpp>
#include <rowan/sparse/row_store.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// The elements of a tensor in a file.
struct ElementsInFile {
    std::shared_ptr<InputFile const> file;
    std::uint64_t offset;
    StoredType type;
};

/// Finds a tensor in a file of any format that open_rows reads.
ElementsInFile find_elements(std::string const& path, std::string_view name);
/// The same in a checkpoint that is open.
ElementsInFile checkpoint_elements(CheckpointFile const& file, std::string_view name);

/// The format and width that options give rows of bytes.
/// errors   TypeError unless they are bytes; ShapeError if the format has no such rows
RowShape given_shape(std::string const& what, StoredType const& type, RowStoreOptions const& options);

template <class T>
RowStore<T> open_elements(ElementsInFile elements, std::string const& what, RowStoreOptions const& options) {
    if (elements.type.dims.empty()) throw ShapeError({what, " rank"}, "0", "at least 1");
    if (!options.format && options.width != 0)
        throw ValueError("options.width", options.width, "0, without options.format");
    auto const [format, width] =
        options.format ? given_shape(what, elements.type, options) : expected_rows<T>(what, elements.type);
    return RowStore<T>(format, width,
                       open_row_source(std::move(elements.file), elements.offset, elements.type.dims[0],
                                       row_bytes(format, width, sizeof(T)), options));
}

}  // namespace detail

/// Opens a table that stays in its file, in microseconds, whatever its size:
/// - a variable of a checkpoint: a Tensor, or a RowStore that was saved;
/// - a tensor of a safetensors file, whose type is F32, F16, BF16, F64 or U8;
/// - a tensor of a GGUF file, of F32, F16, BF16, F64 or Q8_0;
/// - the array of a .npy file, in C order, whose name is empty.
///
///     auto const store = open_rows<float>("model.rowan", "table");
///     auto rows = gather(store, ids);
///     auto const ngrams = open_rows<bfloat16>("ngrams.safetensors", "0", {.format = RowFormat::mxfp8_e4m3});
/// shapes   [height, ...] -> rows of the elements of a row
/// requires   for mapped access, the file is not truncated or written to while the store is in use; the functions that
///            save replace a file instead
/// errors   IoError if the file cannot be read; FormatError if it is damaged; GraphError or Error if there is no such
///          tensor; TypeError if its elements cannot be read as rows of T, or are in Fortran order; ShapeError if it
///          has rank 0, or `options.format` no such rows; ValueError for other bad options
/// cost     that of the header; elements are read on demand, unless they are resident
template <class T = float>
RowStore<T> open_rows(std::string const& path, std::string_view name = {}, RowStoreOptions const& options = {}) {
    return detail::open_elements<T>(detail::find_elements(path, name),
                                    name.empty() ? path : std::string(path).append(": ").append(name), options);
}

}  // namespace rowan::inline v0

#include <rowan/io/open_rows_inl.hpp>
