// rowan/sparse/hash_rows.hpp: hash_rows, the rows of keys without an index, by hashes.
#pragma once

#include <rowan/core/height.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/sparse/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace rowan::inline v0 {

/// How hash_rows maps keys to rows.
struct HashOptions {
    std::size_t hashes = 1;  ///< rows for each key, 1 or more
    std::uint64_t seed = 0;  ///< another one gives other collisions
};

/// Rows of keys of any number, in a table of `height` rows: hash_key(key, seed + j) modulo height for hash j. Keys may
/// share a row; with several hashes, nearly no two keys share all of them (Svenstrup et al. 2017, Hash embeddings for
/// efficient word representations):
///     auto rows = hash_rows(keys, table.shape(0), {.hashes = 2});
///     auto x = gather(table, rows);                                  // [n, 2, width]: side by side,
///     auto sums = reduce_sum(x, {.axes = {1}});                      // or added
/// shapes   keys of any shape -> the same, and [hashes] behind it if there are several
/// errors   ShapeError if height is 0 or negative and there are keys; ValueError if there is no hash
/// cost     O(n · hashes), on several threads
template <key_type Key = std::int64_t>
Tensor<std::int64_t> hash_rows(Cpu exec, std::type_identity_t<Keys<Key>> keys, Height height,
                               HashOptions const& options = {}) {
    if (options.hashes == 0) throw ValueError("hashes", options.hashes, "1 or more");
    if (height == 0 && keys.size() != 0) throw ShapeError("height", "0", "1 or more");
    auto shape = keys.shape();
    if (options.hashes != 1) shape.push_back(options.hashes);
    auto rows = Tensor<std::int64_t>::from_shape(shape);
    auto const bound = static_cast<std::uint64_t>(std::int64_t{height});
    detail::parallel_work(exec, rows.size() * 8, keys.size(), 4096, [&](std::size_t begin, std::size_t end) {
        std::int64_t* to = rows.data() + begin * options.hashes;
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t j = 0; j < options.hashes; ++j)
                *to++ = static_cast<std::int64_t>(hash_key(keys[i], options.seed + j) % bound);
        }
    });
    return rows;
}
template <key_type Key = std::int64_t>
Tensor<std::int64_t> hash_rows(std::type_identity_t<Keys<Key>> keys, Height height, HashOptions const& options = {}) {
    return hash_rows<Key>(Cpu{}, keys, height, options);
}

}  // namespace rowan::inline v0
