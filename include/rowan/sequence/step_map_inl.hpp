// rowan/sequence/step_map_inl.hpp: definitions of rowan/sequence/step_map.hpp.
#pragma once

#include <rowan/sequence/step_map.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/error.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/partition.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace rowan::inline v0::detail {

ROWAN_CALLED_FUNCTION HostSteps::HostSteps() : starts(Tensor<std::int64_t>::zeros({1})) {}

ROWAN_CALLED_FUNCTION HostSteps::HostSteps(Lod of, std::size_t of_level) : lod(std::move(of)), level(of_level) {
    offsets = lod[level];
    std::size_t const n = offsets.size() - 1;
    if (n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw ShapeError("sequences", n, "at most 2^31 - 1");
    }
    std::int64_t most = 0;
    for (std::size_t s = 0; s < n; ++s) most = std::max(most, offsets[s + 1] - offsets[s]);
    starts = Tensor<std::int64_t>::zeros({static_cast<std::size_t>(most) + 1});
    std::int64_t* const to = starts.data();
    // Step t holds the sequences longer than t. to[l] counts those of length l; suffix sums make it the size of step
    // l - 1, prefix sums the end of that step.
    for (std::size_t s = 0; s < n; ++s) {
        if (offsets[s + 1] != offsets[s]) ++to[offsets[s + 1] - offsets[s]];
    }
    for (std::int64_t t = most - 1; t > 0; --t) to[t] += to[t + 1];
    std::partial_sum(to, to + most + 1, to);
}

ROWAN_CALLED_FUNCTION Buffer<std::int32_t> HostSteps::in_order(bool sort_by_length) const {
    Buffer<std::int32_t> made(offsets.size() - 1);
    if (!sort_by_length) {
        std::iota(made.begin(), made.end(), 0);
        return made;
    }
    // Sequences of length l follow all longer ones, whose number is the size of step l.
    Buffer<std::int64_t> place(steps() + 1);
    for (std::size_t l = 0; l <= steps(); ++l) place[l] = static_cast<std::int64_t>(step_size(l));
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        auto const l = static_cast<std::size_t>(offsets[s + 1] - offsets[s]);
        made[static_cast<std::size_t>(place[l]++)] = static_cast<std::int32_t>(s);
    }
    return made;
}

ROWAN_CALLED_FUNCTION Buffer<std::int32_t> HostSteps::in_order(Cpu exec, Ids<> const& of_caller) const {
    Buffer<std::int32_t> checked(offsets.size() - 1);
    check_list("order", of_caller);
    if (of_caller.size() != checked.size()) {
        throw ShapeError("order.size()", of_caller.size(), {checked.size(), ", the number of sequences"});
    }
    check_ids(exec, "order", of_caller, static_cast<std::int64_t>(checked.size()));
    std::vector<bool> seen(checked.size());
    for (std::size_t j = 0; j < of_caller.size(); ++j) {
        auto const s = static_cast<std::size_t>(of_caller[j]);
        if (seen[s]) throw IndexError("order", j, static_cast<std::int64_t>(s), "is a repeated value");
        seen[s] = true;
        checked[j] = static_cast<std::int32_t>(s);
    }
    return checked;
}

ROWAN_CALLED_FUNCTION Tensor<std::int32_t> HostSteps::keep(Buffer<std::int32_t> made) {
    std::size_t const n = made.size();
    auto shown = Tensor<std::int32_t>::from_shape({n});
    std::copy(made.begin(), made.end(), shown.data());
    order = std::allocate_shared<Buffer<std::int32_t> const>(Allocator<std::int32_t>(), std::move(made));
    for (std::size_t j = 1; j < n && sorted; ++j) sorted = length(j) <= length(j - 1);
    return shown;
}

// Fills the steps that begin in share k of the elements, from a list of the sequences that have not ended.
ROWAN_CALLED_FUNCTION void HostSteps::fill_share(std::size_t k, std::size_t shares, std::int64_t* elements) const {
    struct Run {
        std::int64_t next;  // the next element of the sequence
        std::int64_t end;
    };
    std::int64_t const* const all = starts.data();
    auto const count = static_cast<std::size_t>(all[steps()]);
    auto const first_step = [&](std::size_t share) {
        auto const begin = static_cast<std::int64_t>(share_begin(count, share, shares));
        return static_cast<std::size_t>(std::lower_bound(all, all + steps() + 1, begin) - all);
    };
    std::size_t t = first_step(k);
    std::size_t const end = k + 1 == shares ? steps() : first_step(k + 1);
    if (t >= end) return;
    Buffer<Run> runs;
    runs.reserve(step_size(t));
    for (std::size_t j = 0; j < sequences(); ++j) {
        if (length(j) <= static_cast<std::int64_t>(t)) continue;
        auto const s = static_cast<std::size_t>(sequence(j));
        runs.push_back({offsets[s] + static_cast<std::int64_t>(t), offsets[s + 1]});
    }
    std::int64_t* out = elements + all[t];
    for (; t < end; ++t) {
        if (sorted) {  // the first step_size(t) runs have not ended
            for (std::size_t j = 0; j < step_size(t); ++j) *out++ = runs[j].next++;
            continue;
        }
        std::size_t left = 0;
        for (Run run : runs) {
            *out++ = run.next++;
            runs[left] = run;
            left += run.next != run.end;
        }
        runs.resize(left);
    }
}

ROWAN_CALLED_FUNCTION void HostSteps::fill_elements(Cpu exec, std::int64_t* out) const {
    auto const shares = static_cast<std::size_t>(threads_for(exec, static_cast<std::size_t>(starts.data()[steps()])));
    parallel_for(exec, shares, 1, [&](std::size_t k, std::size_t end) {
        for (; k < end; ++k) fill_share(k, shares, out);
    });
}

ROWAN_CALLED_FUNCTION bool StepOrigin::equals(StepOrigin const& other) const noexcept {
    return lod == other.lod && (order == other.order || (order && other.order && *order == *other.order));
}

ROWAN_CALLED_FUNCTION StepOrigin StepMapAccess::origin(HostSteps const& steps) {
    return {steps.lod.slice_levels(0, std::min(steps.level + 1, steps.lod.levels())), steps.order};
}

ROWAN_CALLED_FUNCTION Tensor<std::int64_t> StepMapAccess::make_elements(Cpu exec, HostSteps const& steps) {
    auto elements = Tensor<std::int64_t>::from_shape({static_cast<std::size_t>(steps.starts.data()[steps.steps()])});
    steps.fill_elements(exec, elements.data());
    return elements;
}

ROWAN_CALLED_FUNCTION Tensor<std::int64_t> StepElements<Cpu>::make(Cpu exec, StepMap<> const& map) {
    return StepMapAccess::make_elements(exec, map);
}

}  // namespace rowan::inline v0::detail

#endif
