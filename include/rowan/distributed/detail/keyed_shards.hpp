// rowan/distributed/detail/keyed_shards.hpp: KeyedReader and KeyedShards, the keys and rows of a save: read, and dealt to other ranks.
#pragma once

#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/shard_files.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/detail/checkpoint_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
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

/// What a rank has of a list: its keys, file by file, and what belongs to them.
class DealtKeys {
public:
    static constexpr std::size_t keys = 0;  // the column of keys that are numbers; those that are wanted follow

    DealtKeys() = default;
    /// Reads this rank's files from their begin to their end, and sends keys and what belongs to them to the owners of keys,
    /// at most about `piece` bytes at a time. For ranks that have agreed, on lists that have the same columns and files
    /// with these; or without `group`, for a rank whose files have its own keys alone. What a file throws is put into
    /// `damage`.
    /// cost     one read of this rank's files; every key of another rank sent once. Two buffers of `piece` bytes beside what
    ///          this rank gets
    ROWAN_IF_CALLED DealtKeys(ProcessGroup const* group, SavedShards const& saved, KeyedList const& list,
                              std::size_t piece, std::exception_ptr& damage);

    std::size_t size() const;
    /// Copies a column to where there is room for it.
    ROWAN_IF_CALLED void copy(std::size_t column, std::byte* to) const;
    /// The keys, if they are strings.
    ROWAN_IF_CALLED std::vector<std::string> texts() const;

private:
    /// What ranks have sent at a time.
    struct Round {
        std::size_t size = 0;                           // the number of keys
        std::vector<std::vector<std::byte>> columns{};  // of strings, the first has their lengths
        std::vector<std::byte> text{};
    };
    /// What one of them has sent.
    struct Part {
        std::size_t file, round, at, size, text_at;
    };
    std::vector<Round> rounds_;
    std::vector<Part> parts_;
};

/// What a rank loads of a save of a table by keys.
class KeyedShards : public SavedShards {
public:
    /// `width` is the bytes of a row; `uses` tells whether the table records them.
    ROWAN_IF_CALLED KeyedShards(std::string const& path, int rank, int ranks, bool strings, bool uses,
                                std::size_t width);
    ROWAN_IF_CALLED void add_state(std::string const& name, std::size_t width);

    /// Checks what this rank's files say of their lists, whose types are right, and reads the step.
    /// errors   FormatError; ShapeError if a file has no uses, but the table records them
    ROWAN_IF_CALLED void check();
    /// As DealtKeys.
    ROWAN_IF_CALLED void deal(ProcessGroup const* group, std::size_t piece, std::exception_ptr& damage);

    std::int64_t step;  // the greatest of the files that this rank reads
    DealtKeys rows, seen;
    /// The columns of rows, where those of states follow, and of seen.
    static constexpr std::size_t uses_column = 1, sightings_column = 1;
    std::size_t value_column() const { return row_list_.columns[0].wanted ? 2 : 1; }

private:
    KeyedList row_list_, seen_list_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/distributed/detail/keyed_shards_inl.hpp>
