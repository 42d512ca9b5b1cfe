// rowan/thrust/detail/elementwise.hpp: one formula over all elements of a tensor on a device.
#pragma once

#include <rowan/detail/lanes.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/detail/system.hpp>

#include <cstddef>
#include <cstdint>

namespace rowan::inline v0::detail {

/// to[i] = map(from[i]) for N elements, in numbers of type `S`.
template <class S, int N, class Map, class From, class To>
struct MapElements {
    Map map;
    From const* from;
    To* to;

    ROWAN_HD void operator()(std::size_t k) const {
        auto const read = *reinterpret_cast<Chunk<From, N> const*>(from + k * N);
        Chunk<To, N> written;
        for (int e = 0; e < N; ++e) store(map(load<S>(read.x + e)), written.x + e);
        *reinterpret_cast<Chunk<To, N>*>(to + k * N) = written;
    }
};

/// The same for all i in [0, n), into memory that nobody has seen yet.
template <class S, thrust_device D, class Map, class From, class To>
void map_elements(D const& exec, std::size_t n, Map const& map, From const* from, To* to) {
    if (in_chunks(n, from) && in_chunks(n, static_cast<To const*>(to))) {
        launch_always(exec, n / chunk_size, MapElements<S, chunk_size, Map, From, To>{map, from, to});
    } else {
        launch_always(exec, n, MapElements<S, 1, Map, From, To>{map, from, to});
    }
}

}  // namespace rowan::inline v0::detail
