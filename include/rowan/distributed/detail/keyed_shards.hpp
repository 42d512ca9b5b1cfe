// rowan/distributed/detail/keyed_shards.hpp: KeyedShards, the keys and rows of a save that are dealt to other ranks.
#pragma once

#include <rowan/distributed/detail/keyed_reader.hpp>
#include <rowan/distributed/detail/process_group.hpp>
#include <rowan/distributed/detail/saved_shards.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// What a rank has of a list: its keys, file by file, and what belongs to them.
class DealtKeys {
public:
    static constexpr std::size_t keys = 0;  // the column of keys that are numbers; those that are wanted follow

    std::size_t size() const;
    /// Copies a column to where there is room for it.
    ROWAN_IF_CALLED void copy(std::size_t column, std::byte* to) const;
    /// Calls f with each key, of a list of strings.
    ROWAN_IF_CALLED void each_text(std::function<void(std::string_view)> const& f) const;

private:
    friend DealtKeys deal_keys(ProcessGroup const* group, SavedShards const& saved, KeyedList const& list,
                               std::size_t piece, std::exception_ptr& damage);

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

/// Reads this rank's files from their begin to their end, and sends keys and what belongs to them to the owners of keys,
/// at most about `piece` bytes at a time. For ranks that have agreed, on lists that have the same columns and files
/// with these; or without `group`, for a rank whose files have its own keys alone. What a file throws is put into
/// `damage`.
/// cost     one read of this rank's files; every key of another rank sent once. Two buffers of `piece` bytes beside what
///          this rank gets
DealtKeys deal_keys(ProcessGroup const* group, SavedShards const& saved, KeyedList const& list, std::size_t piece,
                    std::exception_ptr& damage);

/// What a rank loads of a table by keys.
class KeyedShards {
public:
    /// `width` is the bytes of a row; `uses` tells whether the table records them.
    ROWAN_IF_CALLED KeyedShards(bool strings, bool uses, std::size_t width);
    ROWAN_IF_CALLED void add_state(std::string const& name, std::size_t width);

    /// Checks what this rank's files say of their lists, whose types are right, and reads the step.
    /// errors   FormatError; ShapeError if a file has no uses, but the table records them
    ROWAN_IF_CALLED void check(SavedShards const& saved);
    /// As deal_keys.
    ROWAN_IF_CALLED void deal(ProcessGroup const* group, SavedShards const& saved, std::size_t piece,
                              std::exception_ptr& damage);

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
