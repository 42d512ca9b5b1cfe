// rowan/sparse/key_index_contents.hpp: KeyIndexContents, what a KeyIndex holds, for files.
#pragma once

#include <rowan/sparse/key_index_options.hpp>
#include <rowan/sparse/keys.hpp>

#include <cstdint>
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

}  // namespace rowan::inline v0
