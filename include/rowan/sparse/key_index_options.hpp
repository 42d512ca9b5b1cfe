// rowan/sparse/key_index_options.hpp: KeyIndexOptions, which keys get a row; KeyUses and KeyIndexStatistics.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace rowan::inline v0 {

/// Which keys get a row, and what is recorded of them.
struct KeyIndexOptions {
    std::int64_t capacity = std::numeric_limits<std::int64_t>::max();  ///< the most keys that have a row, 0 or more
    bool default_row = false;    ///< row 0 is the row of all keys without one, and -1 is not returned
    std::int64_t sightings = 1;  ///< a key gets a row when it is seen this often; 0: never by their number alone
    double probability = 0;      ///< the probability, in [0, 1], that a sighting gives it one
    bool record_uses = false;    ///< counts the uses of each row, and records the last step, for evict_*
    std::uint64_t seed = 0;      ///< of the draws for `probability`
    /// Of the places in the hash table, and of nothing else: no row, order or draw depends on it, files do not have it,
    /// and ranks may differ in it. The hash is public, so keys from outside can be chosen to meet in one place, each
    /// behind all others, unless this is a number that their author does not know: that of random_hash_seed. assign,
    /// and with it every load, draws another.
    std::uint64_t hash_seed = 0;
};

/// Draws a number for KeyIndexOptions::hash_seed from std::random_device.
/// errors   those of std::random_device
/// cost     a system call or two
std::uint64_t random_hash_seed();

/// The uses of a row.
struct KeyUses {
    std::int64_t count = 0;  ///< occurrences of its key since the key has the row, at most 2^63 - 1
    std::int64_t step = 0;   ///< the step of the last
};

/// The size of a KeyIndex.
struct KeyIndexStatistics {
    std::size_t keys = 0;           ///< keys that have a row
    std::size_t seen = 0;           ///< keys that were seen but have none yet
    std::size_t slots = 0;          ///< slots of the hash table
    double load = 0;                ///< keys / slots, at most 0.75
    std::size_t longest_probe = 0;  ///< the most slots that the search for one of the keys looks at
    std::size_t bytes = 0;          ///< memory
};

}  // namespace rowan::inline v0

#include <rowan/sparse/key_index_options_inl.hpp>
