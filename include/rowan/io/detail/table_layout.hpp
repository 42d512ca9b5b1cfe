// rowan/io/detail/table_layout.hpp: the format of files that hold a table and are changed in place.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A state of an optimizer, which a TableFile holds beside its rows.
///     TableState::of<float>("moment", 64)     a tensor of floats [height, 64]
///     TableState::of<float>("moment")         a tensor of floats [height], one number for each row
struct TableState {
    std::string name;
    std::int32_t wire = 0;             ///< dtype<S>::wire
    std::string type_name;             ///< dtype<S>::name
    std::size_t element_size = 0;      ///< sizeof(S)
    std::optional<std::size_t> width;  ///< elements per row; none: a tensor of rank 1

    /// A state of elements of type S.
    /// errors   std::bad_alloc
    /// cost     two strings
    template <class S>
    static TableState of(std::string name, std::optional<std::size_t> width = {}) {
        static_assert(element<S> && !std::is_same_v<S, bool>,
                      "rowan::TableState: S is an element type other than bool");
        return {std::move(name), dtype<S>::wire, std::string(dtype<S>::name), sizeof(S), width};
    }

    friend bool operator==(TableState const&, TableState const&) = default;
};

namespace detail {

// Little-endian, in pages of 4096 bytes. Each of these begins with a page; what is between them is zero:
//
//   page 0        at 0: TableHeader; at 1024 and 2048: TableGeneration, the even one and the odd one, of which the
//                 later one counts (before the first save the even one is zero); at 3072: u64, the generation whose
//                 rows have begun to change after it was saved; at 3080: u64, the records of the journal that it relies
//                 on; at 3088: u64, 1 + the first generation that journals lead back to, or 0: none but the last; at
//                 3096 and 3104: u64, the records of the journals of those before the last, the even one and the odd one
//   descriptions  of the table and of each state: u32 length, name (none for the table); i32 dtype<T>::wire;
//                 u32 length, dtype<T>::name; u32 sizeof(T); u32 rank; u64 elements per row
//   the table     its rows
//   the states    in their order, the rows of each
//
// A table that grows, version 2, has room for a multiple of 65,536 rows there, first_rows of the header, from a multiple of
// 65,536 bytes on, so that systems with larger pages can map it. It may be followed by the same again, of as many rows as are before it: for first_rows, 2 · first_rows, 4 · first_rows … more. Of generation g it has as
// many rows as the u64 at 3112 + 8 · (g mod 4) says. At 3144 + 8 · (g mod 4) is a random number of that save.
//
// Generations are counted from 1. A file may have a journal, `<path>.journal`: TableRecords, each with the bytes of a
// page as they were in its generation. Records of another file or another generation than that of the table mean
// nothing. A page changes only after the number at 3080 counts its record: a journal with fewer is damaged, and what
// follows is of appends that did not end. One generation that is invalid is of a save that did not end: then the
// journal has records of the other. A save may keep the journal that leads back to the one before, generation g, as
// `<path>.journal.<g - 1>`. Generation 0 is that before the first save: a file whose journals lead back to it was saved
// once, and nothing has named that save.

inline constexpr std::size_t table_page = 4096;
inline constexpr std::size_t table_group = 65536;  // of rows of a table that grows, and of bytes before them
inline constexpr std::size_t most_table_states = 1000;
inline constexpr std::size_t table_generations = 1024, table_unsaved = 3072, table_relied_on = 3080;
inline constexpr std::size_t table_kept = 3088, table_kept_records = 3096, table_heights = 3112;
inline constexpr std::size_t table_marks = 3144;

/// The place of a generation in the first page.
constexpr std::size_t place_of_generation(std::uint64_t number) {
    return number % 2 == 0 ? table_generations : 2 * table_generations;
}
/// The place of the number of records of the journal that leads back to a generation.
constexpr std::size_t place_of_kept(std::uint64_t number) { return table_kept_records + 8 * (number % 2); }
/// The place of the height of a generation.
constexpr std::size_t place_of_height(std::uint64_t number) { return table_heights + 8 * (number % 4); }
/// The place of the random number of a generation.
constexpr std::size_t place_of_mark(std::uint64_t number) { return table_marks + 8 * (number % 4); }

struct TableHeader {
    static constexpr std::array<unsigned char, 8> rowan{0x89, 'R', 'W', 'T', 'A', 'B', '\r', '\n'};  // not text

    std::array<unsigned char, 8> magic = rowan;
    std::uint32_t version = 1;  // 2 of a table that grows
    std::uint32_t parts = 0;    // 1 + the number of states
    std::uint64_t id = 0;       // random: a journal of another file at the same path has another one
    std::uint64_t height = 0;
    std::uint64_t file_bytes = 0;
    std::uint64_t description_bytes = 0;
    std::uint64_t first_rows = 0;       // 0: the table does not grow
    std::uint32_t description_sum = 0;  // CRC-32C of the descriptions
    std::uint32_t sum = 0;              // CRC-32C of the header before this field
};
static_assert(sizeof(TableHeader) == 64);

struct TableGeneration {
    std::uint64_t number = 0;
    std::uint32_t zero = 0, sum = 0;  // CRC-32C of what is before it

    ROWAN_IF_CALLED bool valid() const;
    friend bool operator==(TableGeneration const&, TableGeneration const&) = default;

    /// Number 0 is that of a place that no save has written yet.
    ROWAN_IF_CALLED static TableGeneration of(std::uint64_t number);
};

struct TableRecord {
    std::uint64_t id = 0, generation = 0, page = 0;
    std::uint32_t zero = 0, sum = 0;  // CRC-32C of the fields before it and of the page

    ROWAN_IF_CALLED std::uint32_t sum_with(std::span<std::byte const> bytes) const;
};
static_assert(sizeof(TableRecord) == 32);
inline constexpr std::size_t table_record_bytes = sizeof(TableRecord) + table_page;

constexpr std::uint64_t in_table_pages(std::uint64_t bytes) {
    return (bytes + table_page - 1) / table_page * table_page;
}

/// The places of the parts of a file.
struct TableLayout {
    std::uint64_t id = 0, height = 0;
    std::uint64_t first_rows = 0, rows = 0;  // of a table that grows: for which there is room at first, and now; or 0
    std::vector<TableState> parts;           // the table, which has no name, then its states
    std::vector<std::uint64_t> offsets;      // of the first rows
    std::uint64_t file_bytes = 0;

    TableLayout() = default;
    /// `room` is 0, or a multiple of 65,536 rows of a table that grows.
    /// errors   ShapeError if the file would have more than 2^62 bytes, or more rows than bytes, or it grows and rows and states
    ///          have no elements; Error if a state has no name, one longer than 255 bytes, or that of another state, or there are
    ///          more than 1000 states
    ROWAN_IF_CALLED TableLayout(std::uint64_t number, std::uint64_t table_height, std::vector<TableState> all,
                                std::uint64_t room);

    /// The room of a new table that grows.
    static std::uint64_t room_for(std::uint64_t height) {
        return std::max<std::uint64_t>(1, height / table_group + (height % table_group != 0)) * table_group;
    }

    std::size_t row_bytes(std::size_t part) const { return parts[part].element_size * parts[part].width.value_or(1); }
    /// Of all parts.
    std::uint64_t row_bytes() const {
        std::uint64_t bytes = 0;
        for (std::size_t part = 0; part < parts.size(); ++part) bytes += row_bytes(part);
        return bytes;
    }
    /// Where a row of a part stands. That of the first of some rows that are together is a multiple of the page.
    std::uint64_t place(std::size_t part, std::uint64_t row) const {
        if (first_rows == 0 || row < first_rows) return offsets[part] + row * row_bytes(part);
        std::uint64_t const first = first_rows * std::bit_floor(row / first_rows);  // of as many rows as are before it
        std::uint64_t const before =
            (offsets[part] - offsets[0]) / first_rows;  // the bytes of a row in the parts before
        return offsets[0] + first * (row_bytes() + before) + (row - first) * row_bytes(part);
    }
    /// Makes room for twice the rows.
    /// errors   ShapeError if the file would have more than 2^62 bytes
    ROWAN_IF_CALLED void double_rows();

    /// Everything before the table, of generation 1.
    std::vector<std::byte> header() const;

    /// Reads the layout of a file.
    /// errors   FormatError if it is damaged or has another size
    ROWAN_IF_CALLED static TableLayout parse(std::string const& path, std::span<std::byte const> file);
};

}  // namespace detail

}  // namespace rowan::inline v0

#include <rowan/io/detail/table_layout_inl.hpp>
