// rowan/sequence/step_map_inl.hpp: definitions of rowan/sequence/step_map.hpp.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/detail/partition.hpp>
#include <rowan/sequence/step_map.hpp>

#include <limits>
#include <string>
#include <vector>

namespace rowan::inline v0 {

template <class Device>
StepMap<Device>::StepMap(Device const& exec, Lod lod, std::size_t level, Ids<Device> ids)
    : lod_(std::move(lod)), level_(level) {
    auto checked = make_steps();
    detail::HostIds<Device> const on_host(exec, ids);
    Ids<> const& order = on_host;
    detail::check_list("order", order);
    if (order.size() != checked.size()) {
        throw ShapeError("order.size()", std::to_string(order.size()),
                         std::to_string(checked.size()) + ", the number of sequences");
    }
    detail::check_ids(detail::host_exec(exec), "order", order, static_cast<std::int64_t>(checked.size()));
    std::vector<bool> seen(checked.size());
    for (std::size_t j = 0; j < order.size(); ++j) {
        auto const s = static_cast<std::size_t>(order[j]);
        if (seen[s]) throw IndexError("order", j, static_cast<std::int64_t>(s), "is a repeated value");
        seen[s] = true;
        checked[j] = static_cast<std::int32_t>(s);
    }
    fill(exec, std::move(checked));
}

template <class Device>
detail::Buffer<std::int32_t> StepMap<Device>::make_steps() {
    offsets_ = lod_[level_];
    std::size_t const n = offsets_.size() - 1;
    if (n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw ShapeError("sequences", std::to_string(n), "at most 2^31 - 1");
    }
    std::int64_t most = 0;
    for (std::size_t s = 0; s < n; ++s) most = std::max(most, offsets_[s + 1] - offsets_[s]);
    starts_ = Tensor<std::int64_t>::zeros({static_cast<std::size_t>(most) + 1});
    std::int64_t* const starts = starts_.data();
    // Step t holds the sequences longer than t. starts[l] counts those of length l; suffix sums make it the size of
    // step l - 1, prefix sums the end of that step.
    for (std::size_t s = 0; s < n; ++s) {
        if (offsets_[s + 1] != offsets_[s]) ++starts[offsets_[s + 1] - offsets_[s]];
    }
    for (std::int64_t t = most - 1; t > 0; --t) starts[t] += starts[t + 1];
    std::partial_sum(starts, starts + most + 1, starts);
    return detail::Buffer<std::int32_t>(n);
}

template <class Device>
void StepMap<Device>::sort(detail::Buffer<std::int32_t>& order) const {
    // Sequences of length l follow all longer ones, whose number is the size of step l.
    detail::Buffer<std::int64_t> place(steps() + 1);
    for (std::size_t l = 0; l <= steps(); ++l) place[l] = static_cast<std::int64_t>(step_size(l));
    for (std::size_t s = 0; s + 1 < offsets_.size(); ++s) {
        auto const l = static_cast<std::size_t>(offsets_[s + 1] - offsets_[s]);
        order[static_cast<std::size_t>(place[l]++)] = static_cast<std::int32_t>(s);
    }
}

template <class Device>
void StepMap<Device>::fill(Device const& exec, detail::Buffer<std::int32_t> order) {
    std::size_t const n = order.size();
    auto shown = Tensor<std::int32_t>::from_shape({n});
    std::ranges::copy(order, shown.data());
    shown_ = to_device(exec, std::move(shown));
    order_ = std::allocate_shared<detail::Buffer<std::int32_t> const>(Allocator<std::int32_t>(), std::move(order));
    for (std::size_t j = 1; j < n && sorted_; ++j) sorted_ = length(j) <= length(j - 1);
    elements_ = detail::StepElements<Device>::make(exec, *this);
}

template <class Device>
void StepMap<Device>::fill_elements(Cpu exec, std::int64_t* out) const {
    std::size_t const count = element_count();
    auto const shares = static_cast<std::size_t>(detail::threads_for(exec, count));
    parallel_for(exec, shares, 1, [&](std::size_t k, std::size_t end) {
        for (; k < end; ++k) fill_share(k, shares, count, out);
    });
}

template <class Device>
void StepMap<Device>::fill_share(std::size_t k, std::size_t shares, std::size_t count, std::int64_t* elements) const {
    auto const first_step = [&](std::size_t share) {
        auto const begin = static_cast<std::int64_t>(detail::share_begin(count, share, shares));
        return static_cast<std::size_t>(std::ranges::lower_bound(starts(), begin) - starts().begin());
    };
    std::size_t t = first_step(k);
    std::size_t const end = k + 1 == shares ? steps() : first_step(k + 1);
    if (t >= end) return;
    detail::Buffer<Run> runs;
    runs.reserve(step_size(t));
    for (std::size_t j = 0; j < sequences(); ++j) {
        if (length(j) <= static_cast<std::int64_t>(t)) continue;
        auto const s = static_cast<std::size_t>(sequence(j));
        runs.push_back({offsets_[s] + static_cast<std::int64_t>(t), offsets_[s + 1]});
    }
    std::int64_t* out = elements + starts()[t];
    for (; t < end; ++t) {
        if (sorted_) {  // the first step_size(t) runs have not ended
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

ROWAN_TEMPLATE(class StepMap<Cpu>)

#if ROWAN_DEFINES_FUNCTIONS

namespace detail {

ROWAN_FUNCTION Tensor<std::int64_t> StepElements<Cpu>::make(Cpu exec, StepMap<> const& map) {
    return StepMapAccess::make_elements(exec, map);
}

}  // namespace detail

#endif

}  // namespace rowan::inline v0
