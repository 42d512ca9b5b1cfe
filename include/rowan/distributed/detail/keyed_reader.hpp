// rowan/distributed/detail/keyed_reader.hpp: KeyedReader, the keys and rows of a rank's file, in pieces.
#pragma once

#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/checkpoint_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rowan::inline v0::detail {

/// What belongs to keys in the files of a save: `unit` bytes for each key, or for each row of the table.
struct KeyedColumn {
    std::string name;
    std::size_t unit;
    bool of_rows;
    bool wanted;  // else it is only read
};

/// Keys in the files of a save.
struct KeyedList {
    std::string keys;
    std::string rows;  // their rows; empty: those of keys 0, 1, 2, ... are 0, 1, 2, ...
    bool strings;
    std::vector<KeyedColumn> columns;
};

/// Calls f, which reads the file of a rank.
/// errors   those of f; IndexError, ShapeError and TypeError as FormatError
ROWAN_IF_CALLED void check_undamaged(std::string const& path, std::function<void()> const& f);

/// Checks that lists of a file, whose types are right, have as many elements as its keys. Returns the number of keys.
/// errors   ShapeError; but there may be no uses
ROWAN_IF_CALLED std::size_t check_sizes(CheckpointFile const& file, KeyedList const& list);

/// A section of a file, which is read once, from its begin.
class SectionReader {
public:
    /// The elements of a variable, or the offsets of its sequences.
    ROWAN_IF_CALLED SectionReader(CheckpointFile const& file, std::string const& name, bool offsets = false);

    std::uint64_t left() const { return section_.bytes - begin_; }
    /// errors   FormatError if the section ends here, and its checksum is wrong; IoError
    ROWAN_IF_CALLED void read(std::span<std::byte> to);

private:
    CheckpointReader const& reader_;
    CheckpointRecord record_;
    CheckpointSection section_;
    bool elements_;
    std::uint64_t begin_ = 0;
    std::uint32_t sum_ = 0;
};

/// Keys that a file has, and what belongs to them.
struct KeyedPiece {
    std::size_t file = 0;
    std::vector<int> owners{};
    std::vector<std::size_t> rows{};       // of each key, in the columns of rows
    std::vector<std::uint16_t> lengths{};  // of keys that are strings
    std::vector<std::byte> keys{};
    std::vector<std::vector<std::byte>> columns{};  // those that are wanted
};

/// A list of the file of a rank, which is read once, in pieces.
class KeyedReader {
public:
    /// For a file whose sizes have been checked.
    /// errors   as next
    ROWAN_IF_CALLED KeyedReader(CheckpointFile const& file, KeyedList const& list, int rank, int ranks);

    /// Reads the next keys, and rows up to that of the last, or after it up to the next key. Their owners are those of
    /// `owners` ranks.
    /// errors   FormatError; IndexError for a key or a row; IoError
    /// cost     keys of about `bytes` bytes, and what belongs to them of as many
    KeyedPiece next(std::size_t bytes, int owners);
    bool done() const { return begin_ == height_; }

private:
    ROWAN_IF_CALLED void fill(std::size_t n);
    ROWAN_IF_CALLED void fill_lengths(std::size_t n, std::size_t first);
    ROWAN_IF_CALLED void take(std::size_t n, int owners, KeyedPiece& piece);

    KeyedList const& list_;
    int rank_, ranks_;  // of the save
    SectionReader keys_;
    std::optional<SectionReader> rows_, offsets_;
    std::vector<SectionReader> columns_;
    std::size_t row_bytes_;
    std::int64_t height_, begin_ = 0;      // of the rows
    std::uint64_t keys_left_, text_left_;  // of those that are not ready
    std::vector<std::int64_t> ahead_;      // the rows of keys that are ready: those of the next
    std::vector<std::uint16_t> lengths_;   // of these keys
    std::size_t first_ = 0;                // the number of the first of them
    std::int64_t least_ = 0, offset_ = 0;  // of the keys after them: the least row, and the begin in the text
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/keyed_reader_inl.hpp>
