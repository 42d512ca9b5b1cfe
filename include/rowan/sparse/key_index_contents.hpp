// rowan/sparse/key_index_contents.hpp: KeyIndexContents, what a KeyIndex holds, for files.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/sparse/key_index_options.hpp>
#include <rowan/sparse/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0 {

/// Everything in a KeyIndex but its options. An index with the same options and contents behaves the same from then on.
template <key_type Key>
struct KeyIndexContents {
    std::int64_t height = 0;           ///< of a table with all rows; rows below it that no key has are free
    std::int64_t step = 0;             ///< the step that the next uses record
    std::vector<Key> keys{};           ///< the keys that have a row, in the order of their rows
    std::vector<std::int64_t> rows{};  ///< their rows, ascending
    std::vector<KeyUses> uses{};       ///< their uses; empty if the options do not record them
    std::vector<Key> seen{};           ///< the keys that were seen and have no row yet, ascending
    std::vector<KeyUses> sightings{};  ///< how often, and the step of the last time
};

namespace detail {

/// Checks that rows, those of a list from its element `first` on, ascend in [least, height).
/// errors   IndexError for the first that does not
inline void check_ascending(char const* field, std::span<std::int64_t const> rows, std::int64_t least,
                            std::int64_t height, std::size_t first = 0) {
    for (std::size_t i = 0; i < rows.size(); least = rows[i++] + 1) {
        if (rows[i] >= height) throw IndexError(field, first + i, rows[i], height);
        if (rows[i] < least) throw IndexError(field, first + i, rows[i], {"is less than ", least});
    }
}

}  // namespace detail

}  // namespace rowan::inline v0
