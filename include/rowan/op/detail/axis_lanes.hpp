// rowan/op/detail/axis_lanes.hpp: each_lane_along, which processes the lanes of a tensor along one of its axes.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/detail/config.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/op/operator.hpp>

#include <concepts>
#include <cstddef>

namespace rowan::inline v0::detail {

/// Calls f.lanes<V, count>(first, apart, result) for N lanes, in `count` registers or numbers V that are `apart` elements
/// apart or, where fewer are left, f.lanes<Number, 1>(first, 1, result) for each: `first` is the offset of the first
/// element, and `result` the number of the lane. Registers are for lanes of adjacent elements.
template <class Number, std::size_t N, bool adjacent, class F>
struct LaneGroups {
    F f;
    std::size_t n, lanes, apart, groups;  // lanes, and groups of N, for each outer index

    ROWAN_KERNEL void operator()(std::size_t k) const {
        std::size_t const outer = k / groups, lane = (k - outer * groups) * N, result = outer * lanes + lane;
        std::size_t const first = outer * n * lanes + lane * apart;
        if (lane + N > lanes) {
            for (std::size_t i = 0; lane + i < lanes; ++i)
                f.template lanes<Number, 1>(first + i * apart, 1, result + i);
        } else if constexpr (adjacent) {
            on_lanes<Number>(n * N, [&]<class V>(as<V>) ROWAN_INLINED {
                f.template lanes<V, N / lanes_in<V>>(first, lanes_in<V>, result);
            });
        } else {
            f.template lanes<Number, N>(first, apart, result);
        }
    }
};

/// `count` times `lanes` lanes of n elements.
template <class Number, std::size_t N, bool adjacent, class D, class F>
void each_lane_group(D const& exec, F const& f, std::size_t n, std::size_t count, std::size_t lanes,
                     std::size_t apart) {
    std::size_t const groups = (lanes + N - 1) / N;
    ElementLoops<D>::each(exec, count * groups, n * (lanes < N ? lanes : N),
                          LaneGroups<Number, N, adjacent, F>{f, n, lanes, apart, groups});
}

/// Processes all lanes along an axis of a tensor with elements, in which f computes with numbers of a type. On Cpu,
/// several at once: 16 that are together in the cache, or else 4, so that a step need not wait for the one before. More
/// rows would not fit in the first cache if they begin at multiples of 4096 bytes.
template <class Number, class D, class Shape, class F>
void each_lane_along(D const& exec, Shape const& shape, std::size_t axis, F const& f) {
    std::size_t const n = shape[axis], inner = product_from(shape, axis + 1);
    std::size_t const outer = product_from(shape, 0) / (n * inner);
    if constexpr (!std::same_as<D, Cpu>) {
        each_lane_group<Number, 1, false>(exec, f, n, outer, inner, 1);
    } else if (inner == 1) {
        each_lane_group<Number, 4, false>(exec, f, n, 1, outer, n);
    } else if (inner < 16) {
        each_lane_group<Number, 4, false>(exec, f, n, outer, inner, 1);
    } else {
        each_lane_group<Number, 16, true>(exec, f, n, outer, inner, 1);
    }
}

}  // namespace rowan::inline v0::detail
