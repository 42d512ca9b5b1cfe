// rowan/sparse/detail/key_positions.hpp: KeyPositions, some of the positions in a batch of keys; grow_to.
#pragma once

#include <rowan/version.hpp>

#include <algorithm>
#include <cstddef>

namespace rowan::inline v0::detail {

/// A list of positions in a batch of keys, or `size` positions from `first` on.
struct KeyPositions {
    std::size_t size;
    std::size_t const* list = nullptr;
    std::size_t first = 0;

    std::size_t operator[](std::size_t j) const { return list != nullptr ? list[j] : first + j; }
    KeyPositions part(std::size_t begin, std::size_t n) const {
        return list != nullptr ? KeyPositions{n, list + begin} : KeyPositions{n, nullptr, first + begin};
    }
};

/// Makes room for n elements, for twice as many as before if more are needed.
/// errors   std::bad_alloc; the vector is unchanged
template <class V>
void grow_to(V& v, std::size_t n) {
    if (n > v.capacity()) v.reserve(std::max(n, 2 * v.capacity()));
}

}  // namespace rowan::inline v0::detail
