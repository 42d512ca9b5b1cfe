// rowan/io/open_rows_inl.hpp: definitions of rowan/io/open_rows.hpp.
#pragma once

#include <rowan/io/open_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/detail/file_reader.hpp>
#include <rowan/io/detail/npy_header.hpp>
#include <rowan/io/gguf_file.hpp>
#include <rowan/io/safetensors_file.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace rowan::inline v0::detail {

/// The type of elements that a format names so; their own name if rowan has no such type.
inline StoredType named_type(std::string_view name, std::vector<std::int64_t> dims) {
    StoredType type{-1, std::string(name), 0, {}};
    auto const attempt = [&]<class E>(std::type_identity<E>, auto... names) {
        if (((name == names) || ...)) type = StoredType::of<E>(0, 0);
    };
    attempt(std::type_identity<float>(), "<f4", "F32");
    attempt(std::type_identity<double>(), "<f8", "F64");
    attempt(std::type_identity<float16>(), "<f2", "F16");
    attempt(std::type_identity<bfloat16>(), "<V2", "BF16");
    attempt(std::type_identity<std::int32_t>(), "<i4", "I32");
    attempt(std::type_identity<std::int64_t>(), "<i8", "I64");
    attempt(std::type_identity<std::uint8_t>(), "|u1", "U8");
    type.dims = std::move(dims);
    return type;
}

inline ElementsInFile npy_elements(std::shared_ptr<InputFile const> file) {
    FileReader in(*file);
    NpyHeader const header = read_npy_header(in);
    if (header.fortran_order && header.shape.size() > 1)
        throw TypeError(file->path(), "an array in Fortran order", "one in C order");
    return {file, in.position(), named_type(header.type, {header.shape.begin(), header.shape.end()})};
}

ROWAN_FUNCTION ROWAN_RARE ElementsInFile checkpoint_elements(CheckpointFile const& file, std::string_view name) {
    expect_no_delta(file);
    auto const entry = file.describe_type(name);
    return {OpenedFile::of(file), file.offset(name), stored_type_of(entry.desc, entry.type_name, entry.element_size)};
}

ROWAN_FUNCTION ROWAN_RARE ElementsInFile find_elements(std::string const& path, std::string_view name) {
    auto file = std::make_shared<InputFile const>(path);
    std::array<unsigned char, 8> begin{};
    file->read(0, std::as_writable_bytes(std::span(begin)).first(std::min<std::size_t>(8, file->size())));
    auto const begins_with = [&](std::string_view magic) {
        return std::memcmp(begin.data(), magic.data(), magic.size()) == 0;
    };
    if (begin == CheckpointHeader::rowan) return checkpoint_elements(CheckpointFile(path), name);
    if (begins_with(npy_magic)) {
        if (!name.empty()) throw Error({path, " has one array, without a name"});
        return npy_elements(std::move(file));
    }
    if (begins_with("GGUF")) {
        GgufFile const gguf(path);
        auto const entry = gguf.entry(name);
        auto type = named_type(entry.type_name, entry.shape);
        if (entry.type_name == "Q8_0" && entry.shape.size() > 1)
            type = type_of_rows(RowFormat::q8_0, row_elements(path, entry.shape), entry.shape[0]);
        return {OpenedFile::of(gguf), entry.offset, std::move(type)};
    }
    SafetensorsFile const tensors(path);
    auto const entry = tensors.entry(name);
    return {OpenedFile::of(tensors), entry.offset, named_type(entry.dtype, entry.shape)};
}

ROWAN_FUNCTION ROWAN_RARE RowShape given_shape(std::string const& what, StoredType const& type,
                                               RowStoreOptions const& options) {
    if (!type.is<std::uint8_t>())
        throw TypeError(what, {"elements of ", type.name}, "bytes, since options.format is given");
    RowFormat const format = *options.format;
    if (format == RowFormat::elements) throw ValueError("options.format", 0, "a format of bytes");
    std::size_t const bytes = row_elements(what, type.dims);
    try {
        std::size_t const width = options.width == 0 ? row_width(format, bytes) : options.width;
        if (row_bytes(format, width) == bytes) return {format, width};
        throw ShapeError("bytes of a row", bytes, row_bytes(format, width));
    } catch (ShapeError const& e) {
        throw ShapeError({what, ": ", e.field()}, e.actual(), e.expected());
    }
}

}  // namespace rowan::inline v0::detail

#endif
