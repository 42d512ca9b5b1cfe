// rowan/train/keyed.hpp: layer::Keyed, the kind of tables whose rows belong to keys.
#pragma once

#include <rowan/layer/table_kind.hpp>
#include <rowan/sparse/key_index_options.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rowan::inline v0::layer {

/// The keys that have lost their rows at a time: integers or strings, in the order of their rows.
struct Evicted {
    std::int64_t time = 0;               ///< of the step after which they lost them
    std::vector<std::int64_t> keys{};    ///< if keys are integers
    std::vector<std::string> strings{};  ///< if they are strings
};

/// Which keys lose their rows. After the first step whose time is a multiple of `every`, or past one that the step before
/// had not reached, keys whose last use is more than `idle` ago lose their rows, and of the others all but `most`: those
/// used longest ago go first, of these the smallest key. A key of the step itself stays. One that is seen again is new.
struct Eviction {
    std::int64_t idle = 0;   ///< the longest time without a use; 0: any
    std::int64_t most = 0;   ///< the most keys that stay; 0: any number
    std::int64_t every = 1;  ///< the time between two looks at all keys, which cost a read of their uses
    /// The data with the time of a batch, one integer that never decreases, such as a day; empty: the number of the step.
    std::string time = {};
    /// Called after the step, which counts also if it throws; on several ranks that ends all.
    std::function<void(Evicted const&)> report = {};
};

/// Rows belong to keys that batches name: integers of 64 bits, or strings. `train` gives a new key a row, in the order in
/// which a step's parts have them; `infer` and a Predictor find them. Keys without a row read the default row, row 0,
/// which begins with zeros and is trained by keys that wait for theirs.
///     auto users = layer::data<std::string>("users", {UNK});
///     auto x = layer::embedding(users, {.width = 16, .kind = layer::Keyed{.sightings = 2}});
/// The first values of a row, EmbeddingOptions::table, depend on the seed, the key and the place in the row alone. A
/// step that throws leaves no key, use or sighting. Parameters and files have the keys beside the rows, as "w#keys" and so
/// on. Keys are layer::data outside of recurrent layers and branches. Such tables lie in the memory of the CPU, of each of
/// the ranks that train together (layer::Comm) whole, and have no averages. See KeyedTable.
struct Keyed {
    std::int64_t capacity = KeyIndexOptions{}.capacity;  ///< the most keys: more are an IndexError
    std::int64_t sightings = 1;  ///< a key gets a row when it is seen this often; 0: never by their number alone
    double probability = 0;      ///< the probability, in [0, 1], that a sighting gives it one
    bool default_row = true;     ///< false: a key without a row is an IndexError; each gets one when it is first seen
    Eviction eviction = {};      ///< which keys lose their rows: none

    /// errors   ValueError if a number is not in its range, or default_row is false and keys wait for their rows;
    ///          GraphError, where the table is made, if first values depend on its height
    /// cost     O(1)
    ROWAN_IF_CALLED operator TableKind() const;
};

}  // namespace rowan::inline v0::layer

#include <rowan/train/keyed_inl.hpp>
