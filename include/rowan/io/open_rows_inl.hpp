// rowan/io/open_rows_inl.hpp: definitions of rowan/io/open_rows.hpp.
#pragma once

#include <rowan/io/open_rows.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/checkpoint_file.hpp>
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

ROWAN_FUNCTION ElementsInFile find_elements(std::string const& path, std::string_view name) {
    auto file = std::make_shared<InputFile const>(path);
    std::array<unsigned char, 8> begin{};
    file->read(0, std::as_writable_bytes(std::span(begin)).first(std::min<std::size_t>(8, file->size())));
    auto const begins_with = [&](std::string_view magic) {
        return std::memcmp(begin.data(), magic.data(), magic.size()) == 0;
    };
    if (begin == CheckpointHeader::rowan) {
        CheckpointFile const checkpoint(path);
        expect_no_delta(checkpoint);
        auto const entry = checkpoint.describe_type(name);
        return {std::move(file), checkpoint.offset(name),
                stored_type_of(entry.desc, entry.type_name, entry.element_size)};
    }
    if (begins_with(npy_magic)) {
        if (!name.empty()) throw Error(path + " has one array, without a name");
        return npy_elements(std::move(file));
    }
    if (begins_with("GGUF")) {
        auto const entry = GgufFile(path).entry(name);
        auto type = named_type(entry.type_name, entry.shape);
        if (entry.type_name == "Q8_0" && !entry.shape.empty()) {
            std::size_t width = 1;
            for (std::size_t i = 1; i < entry.shape.size(); ++i) width *= static_cast<std::size_t>(entry.shape[i]);
            type = type_of_rows(RowFormat::q8_0, width, entry.shape[0]);
        }
        return {std::move(file), entry.offset, std::move(type)};
    }
    auto const entry = SafetensorsFile(path).entry(name);
    return {std::move(file), entry.offset, named_type(entry.dtype, entry.shape)};
}

ROWAN_FUNCTION RowShape given_shape(std::string const& what, StoredType const& type, RowStoreOptions const& options) {
    if (!type.is<std::uint8_t>())
        throw TypeError(what, std::string("elements of ").append(type.name), "bytes, since options.format is given");
    std::size_t bytes = 1;
    for (std::size_t i = 1; i < type.dims.size(); ++i) bytes *= static_cast<std::size_t>(type.dims[i]);
    RowFormat const format = *options.format;
    if (options.width == 0) return {format, row_width(format, bytes)};
    if (row_bytes(format, options.width) != bytes)
        throw ShapeError(what + ": bytes of a row", std::to_string(bytes),
                         std::to_string(row_bytes(format, options.width)));
    return {format, options.width};
}

}  // namespace rowan::inline v0::detail

#endif
