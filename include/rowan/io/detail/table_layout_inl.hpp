// rowan/io/detail/table_layout_inl.hpp: definitions of rowan/io/detail/table_layout.hpp.
#pragma once

#include <rowan/io/detail/table_layout.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/detail/checked.hpp>
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/crc32c.hpp>

namespace rowan::inline v0::detail {

template <class X>
std::span<std::byte const> bytes_before_sum(X const& x) {
    return std::as_bytes(std::span(&x, 1)).first(sizeof x - sizeof x.sum);
}

ROWAN_CALLED_FUNCTION bool TableGeneration::valid() const {
    return number != 0 && sum == crc32c(bytes_before_sum(*this));
}

ROWAN_CALLED_FUNCTION TableGeneration TableGeneration::of(std::uint64_t number) {
    TableGeneration generation{number};
    if (number != 0) generation.sum = crc32c(bytes_before_sum(generation));
    return generation;
}

ROWAN_CALLED_FUNCTION std::uint32_t TableRecord::sum_with(std::span<std::byte const> bytes) const {
    return crc32c(bytes, crc32c(bytes_before_sum(*this)));
}

inline constexpr std::uint64_t most_table_bytes = std::uint64_t{1} << 62;

ROWAN_CALLED_FUNCTION TableLayout::TableLayout(std::uint64_t number, std::uint64_t table_height,
                                               std::vector<TableState> all, std::uint64_t room)
    : id(number), height(table_height), first_rows(room), rows(room), parts(std::move(all)) {
    if (parts.size() > 1 + most_table_states) {
        throw Error({"there are ", parts.size() - 1, " states, more than ", most_table_states});
    }
    std::uint64_t at = table_page;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::string const& name = parts[i].name;
        if (i != 0 && name.empty()) throw Error({"states[", i - 1, "] has no name"});
        if (name.size() > 255) throw Error({"the name of states[", i - 1, "] is longer than 255 bytes"});
        for (std::size_t j = 1; j < i; ++j) {
            if (parts[j].name == name) throw Error({"two states are named \"", name, "\""});
        }
        at += 4 * 5 + 8 + name.size() + parts[i].type_name.size();
    }
    at = in_table_pages(at);
    if (rows != 0) at = (at + table_group - 1) / table_group * table_group;
    for (auto const& part : parts) {
        offsets.push_back(at);
        std::array<std::uint64_t, 2> const shape{std::max(height, rows), part.width.value_or(1)};
        auto const elements = shape_size(shape, part.element_size);
        if (!elements || *elements * part.element_size > most_table_bytes - at)
            throw ShapeError("height", height, "one whose table has at most 2^62 bytes");
        at += in_table_pages(*elements * part.element_size);
    }
    file_bytes = at;
    if (height > file_bytes) {  // all widths are 0; a small file must not ask for a bit for each of so many rows
        throw ShapeError("height", height, {"at most ", file_bytes, " if no row has elements"});
    }
    if (rows != 0 && row_bytes() == 0) throw ShapeError("width", 0, "1 or more, of a table that grows");
}

ROWAN_CALLED_FUNCTION void TableLayout::double_rows() {
    if (rows * row_bytes() > most_table_bytes - file_bytes)
        throw ShapeError("height", 2 * rows, "one whose table has at most 2^62 bytes");
    file_bytes += rows * row_bytes();
    rows *= 2;
}

ROWAN_FUNCTION std::vector<std::byte> TableLayout::header() const {
    std::vector<std::byte> bytes(table_page);
    auto const put = [&](void const* from, std::size_t n) {
        auto const* const first = static_cast<std::byte const*>(from);
        bytes.insert(bytes.end(), first, first + n);
    };
    auto const put_u32 = [&](std::uint64_t x) {
        auto const narrow = static_cast<std::uint32_t>(x);
        put(&narrow, 4);
    };
    for (auto const& part : parts) {
        std::uint64_t const width = part.width.value_or(1);
        put_u32(part.name.size()), put(part.name.data(), part.name.size());
        put(&part.wire, 4);
        put_u32(part.type_name.size()), put(part.type_name.data(), part.type_name.size());
        put_u32(part.element_size), put_u32(part.width ? 2 : 1), put(&width, 8);
    }
    TableHeader head{.version = first_rows == 0 ? 1U : 2U,
                     .parts = static_cast<std::uint32_t>(parts.size()),
                     .id = id,
                     .height = height,
                     .file_bytes = file_bytes,
                     .description_bytes = bytes.size() - table_page,
                     .first_rows = first_rows,
                     .description_sum = crc32c(std::span(bytes).subspan(table_page))};
    head.sum = crc32c(bytes_before_sum(head));
    std::memcpy(bytes.data(), &head, sizeof head);
    auto const first = TableGeneration::of(1);
    std::memcpy(bytes.data() + place_of_generation(1), &first, sizeof first);
    if (first_rows != 0) std::memcpy(bytes.data() + place_of_height(1), &height, sizeof height);
    return bytes;
}

ROWAN_CALLED_FUNCTION TableLayout TableLayout::parse(std::string const& path, std::span<std::byte const> file) {
    ByteReader in(file);
    TableHeader head;
    in.read("the header", std::as_writable_bytes(std::span(&head, 1)));
    if (head.magic != TableHeader::rowan) throw FormatError(0, path, "is not a table in a file of rowan");
    if (head.version != 1 && head.version != 2)
        throw FormatError(8, "the version", {"is ", head.version, ", supported are 1 and 2"});
    if (head.sum != crc32c(bytes_before_sum(head))) throw FormatError(0, "the header", "has another checksum");
    if (head.first_rows == 0 ? head.file_bytes != file.size() : head.file_bytes > file.size()) {
        throw FormatError(32, "the size of the file", {"is ", file.size(), ", expected ", head.file_bytes});
    }
    in.bytes("the header", table_page - sizeof head);
    auto const described = in.bytes("the descriptions", head.description_bytes);
    ByteReader description(described, table_page);
    if (head.description_sum != crc32c(described))
        throw FormatError(table_page, "the descriptions", "have another checksum");
    auto const text = [&](char const* field) {
        auto const bytes = description.bytes(field, description.number<std::uint32_t>(field));
        return std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    };
    std::vector<TableState> parts;
    for (std::uint32_t i = 0; i < head.parts; ++i) {
        TableState part;
        part.name = text("the name of a state");
        part.wire = description.number<std::int32_t>("an element type");
        part.type_name = text("an element type");
        part.element_size = description.number<std::uint32_t>("an element size");
        std::uint32_t const rank = description.number<std::uint32_t>("a rank");
        auto const width = static_cast<std::size_t>(description.number<std::uint64_t>("a width"));
        if (rank == 2) part.width = width;
        parts.push_back(std::move(part));
    }
    description.expect_end("the descriptions");
    for (auto const& part : parts) {
        if (part.element_size == 0) throw FormatError(table_page, "an element size", "is 0");
    }
    TableLayout layout;
    try {
        layout = TableLayout(head.id, head.height, std::move(parts), head.first_rows);
    } catch (Error const& error) {
        throw FormatError(table_page, "the descriptions", {"are invalid: ", error.what()});
    }
    if (layout.parts.empty() || layout.file_bytes != head.file_bytes || layout.first_rows % table_group != 0 ||
        (layout.first_rows != 0) != (head.version == 2) ||
        (layout.first_rows != 0 && layout.height > layout.first_rows))
        throw FormatError(32, "the size of the file", "is not that of its parts");
    while (layout.file_bytes < file.size() && layout.rows * layout.row_bytes() <= file.size() - layout.file_bytes)
        layout.double_rows();
    if (layout.file_bytes != file.size())
        throw FormatError(32, "the size of the file",
                          {"is ", file.size(), ", expected ", layout.file_bytes, " or what the table grows to"});
    return layout;
}

}  // namespace rowan::inline v0::detail

#endif
