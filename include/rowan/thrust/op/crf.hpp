// rowan/thrust/op/crf.hpp: conditional random fields on a device.
#pragma once

#include <rowan/op/detail/crf.hpp>
#include <rowan/thrust/detail/elementwise.hpp>
#include <rowan/thrust/detail/on_device.hpp>
#include <rowan/thrust/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rowan::inline v0::detail {

/// One kernel for each row of the longest sequence; a thread computes the score of a tag of a sequence.
template <class System>
struct CrfSteps<ThrustDevice<System>> {
    using Device = ThrustDevice<System>;

    template <class T, bool best>
    static void run(Device const& exec, std::span<std::int64_t const> offsets, CrfStep<T, best> step) {
        std::size_t const n = offsets.size() - 1, longest = longest_of(offsets, 0, n);
        for (step.t = 0; step.t < longest; ++step.t)
            ElementLoops<Device>::template each_of_rows<sum_t<T>>(exec, n, step.tags, 1, step);
    }
};

}  // namespace rowan::inline v0::detail
