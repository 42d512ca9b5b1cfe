// rowan/op/detail/axis_lanes.hpp: each_lane_along, which processes the lanes of a tensor along one of its axes.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/detail/config.hpp>
#include <rowan/op/operator.hpp>

#include <concepts>

namespace rowan::inline v0::detail {

/// Calls f.lanes<N>(first, result) for N adjacent lanes or, where fewer are left, f.lanes<1>(first, result) for each:
/// `first` is the offset of the first element, and `result` the number of the lane.
template <std::size_t N, class F>
struct LaneGroups {
    F f;
    std::size_t n, inner, groups;  // groups for each outer index

    ROWAN_KERNEL void operator()(std::size_t k) const {
        std::size_t const outer = k / groups, first = outer * n * inner, result = outer * inner;
        std::size_t lane = (k - outer * groups) * N;
        if (lane + N <= inner) return f.template lanes<N>(first + lane, result + lane);
        for (; lane < inner; ++lane) f.template lanes<1>(first + lane, result + lane);
    }
};

/// Processes all lanes along an axis of a tensor with elements; on Cpu, those that are together in the cache at once.
template <class D, class Shape, class F>
void each_lane_along(D const& exec, Shape const& shape, std::size_t axis, F const& f) {
    constexpr std::size_t together = std::same_as<D, Cpu> ? 16 : 1;
    std::size_t const n = shape[axis], inner = product_from(shape, axis + 1),
                      groups = (inner + together - 1) / together;
    std::size_t const outer = product_from(shape, 0) / (n * inner);
    ElementLoops<D>::each(exec, outer * groups, n * (inner < together ? inner : together),
                          LaneGroups<together, F>{f, n, inner, groups});
}

}  // namespace rowan::inline v0::detail
