// rowan/thrust/sequence/step_map.hpp: StepMap<ThrustDevice<System>>, whose elements are computed on the device.
#pragma once

#include <rowan/sequence/step_map.hpp>
#include <rowan/thrust/detail/find_block.hpp>
#include <rowan/thrust/detail/on_device.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rowan::inline v0::detail {

/// Element i of a map sorted by length: element t of the sequence at position j, where i = starts[t] + j.
struct MakeElement {
    std::int64_t const* starts;  // of the steps
    std::size_t steps;
    std::int64_t const* begins;  // of the sequences, in the map's order
    std::int64_t* elements;

    ROWAN_HD void operator()(std::size_t i) const {
        std::size_t const t = find_block(starts, steps, i);
        elements[i] = begins[i - static_cast<std::size_t>(starts[t])] + static_cast<std::int64_t>(t);
    }
};

template <class System>
struct StepElements<ThrustDevice<System>> {
    using Exec = ThrustDevice<System>;

    static Tensor<std::int64_t, Exec> make(Exec const& exec, StepMap<Exec> const& map) {
        if (!map.sorted()) return Tensor<std::int64_t, Exec>(exec, StepMapAccess::make_elements(Cpu{}, map));
        auto const starts = map.starts();
        auto elements = Tensor<std::int64_t, Exec>::from_shape(exec, {static_cast<std::size_t>(starts.back())});
        if (elements.size() == 0) return elements;
        std::vector<std::int64_t> numbers(starts.begin(), starts.end());
        for (std::size_t j = 0; j < map.step_size(0); ++j) numbers.push_back(StepMapAccess::begin(map, j));
        OnDevice<std::int64_t, Exec> const uploaded(exec, numbers);
        launch_always(exec, elements.size(),
                      MakeElement{uploaded.data(), map.steps(), uploaded.data() + starts.size(), elements.data()});
        return elements;
    }
    static Tensor<std::int64_t, Exec> part(Tensor<std::int64_t, Exec> const& elements, std::size_t begin,
                                           std::size_t n) {
        auto const part = elements.slice(begin, begin + n);
        return Tensor<std::int64_t, Exec>(part);
    }
    static Tensor<std::int64_t, Exec> kept(Tensor<std::int64_t, Exec> const&, Tensor<std::int64_t, Exec> part) {
        return part;
    }
    static Tensor<std::int64_t> on_host(Tensor<std::int64_t, Exec> const&, StepMap<Exec> const& map) {
        return StepMapAccess::make_elements(Cpu{}, map);
    }
    static std::span<std::int64_t const> host_step(StepMap<Exec> const&, std::size_t) { return {}; }
};

}  // namespace rowan::inline v0::detail
