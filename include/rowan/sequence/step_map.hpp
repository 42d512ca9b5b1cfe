// rowan/sequence/step_map.hpp: StepMap, which sequence stands where in the steps of an unpacked batch.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/detail/partition.hpp>
#include <rowan/sequence/lod.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

struct StepMapAccess;

/// How the elements of a map come to a device: make(exec, map), a tensor of them.
template <class Device>
struct StepElements;

}  // namespace detail

/// How the sequences of one level are cut into steps: step t holds element t of every sequence that has one. An element is a row, or a
/// sequence of the level below.
///
///     lengths 3 6 1, sorted   ->   order()      [1 0 2]                     the sequences, longest first
///     rows of 0: 0 1 2             starts()     [0 3 5 7 8 9 10]            step t is elements()[starts()[t] … starts()[t + 1])
///             1: 3 4 5 6 7 8       elements()   [3 0 9  4 1  5 2  6  7  8]
///             2: 9
///
/// On a device the elements, and order(), lie in its memory; what else a map knows is the host's everywhere.
template <class Device>
class StepMap {
public:
    /// No sequences, no steps.
    StepMap() : starts_(Tensor<std::int64_t>::zeros({1})) {}

    StepMap(StepMap const&) = default;
    StepMap(StepMap&&) noexcept = default;
    StepMap& operator=(StepMap other) noexcept {
        lod_ = std::move(other.lod_);
        level_ = other.level_;
        offsets_ = other.offsets_;
        sorted_ = other.sorted_;
        order_ = std::move(other.order_);
        shown_ = std::move(other.shown_);
        starts_ = std::move(other.starts_);
        elements_ = std::move(other.elements_);
        return *this;
    }
    ~StepMap() = default;

    /// Sequences longest first and equal ones in input order, or all in input order.
    /// errors   IndexError if the Lod has no such level; ShapeError if it has more than 2^31 - 1 sequences
    /// cost     a counting sort: O(sequences + elements), 8 bytes for each element. On a device the host sorts, O(sequences + steps), and
    ///          the elements are made there; those of an order that is not sorted by length are made by the host and copied
    template <std::same_as<bool> B>  // so that braces are an order
    StepMap(Device const& exec, Lod lod, std::size_t level, B sort_by_length) : lod_(std::move(lod)), level_(level) {
        auto order = make_steps();
        sort_by_length ? sort(order) : std::iota(order.begin(), order.end(), 0);
        fill(exec, std::move(order));
    }
    template <std::same_as<bool> B>
    StepMap(Lod lod, std::size_t level, B sort_by_length) : StepMap(Device{}, std::move(lod), level, sort_by_length) {}
    StepMap(Device const& exec, Lod lod, std::size_t level) : StepMap(exec, std::move(lod), level, true) {}
    StepMap(Lod lod, std::size_t level) : StepMap(Device{}, std::move(lod), level, true) {}

    /// Sequences in an order of the caller's.
    /// errors   ShapeError unless order is a list of as many numbers as the level has sequences; IndexError if one is not in
    ///          [0, sequences) or stands there twice
    /// cost     as above; an order in the memory of a device is waited for
    StepMap(Device const& exec, Lod lod, std::size_t level, Ids<Device> ids) : lod_(std::move(lod)), level_(level) {
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
            if (seen[s]) throw IndexError("order", j, static_cast<std::int64_t>(s), "stands there already");
            seen[s] = true;
            checked[j] = static_cast<std::int32_t>(s);
        }
        fill(exec, std::move(checked));
    }
    StepMap(Lod lod, std::size_t level, Ids<Device> order) : StepMap(Device{}, std::move(lod), level, order) {}

    Lod const& lod() const noexcept { return lod_; }       ///< whose sequences are cut
    std::size_t level() const noexcept { return level_; }  ///< of the Lod

    /// order()[j] is sequence(j). For the caller: no function of rowan reads it, so that a change through its share() harms no map.
    Tensor<std::int32_t, Device> const& order() const noexcept { return shown_; }

    /// The sequence at position j.
    std::int32_t sequence(std::size_t j) const noexcept { return (*order_)[j]; }
    /// How many of them the level has.
    std::size_t sequences() const noexcept { return order_ ? order_->size() : 0; }

    /// The number of steps: the length of the longest sequence.
    std::size_t steps() const noexcept { return std::max<std::size_t>(starts_.size(), 1) - 1; }

    /// How many sequences have a step t; 0 from steps() on.
    std::size_t step_size(std::size_t t) const noexcept {
        return t < steps() ? static_cast<std::size_t>(starts_.data()[t + 1] - starts_.data()[t]) : 0;
    }

    /// Step t is elements [starts()[t], starts()[t + 1]).
    std::span<std::int64_t const> starts() const noexcept { return {starts_.data(), starts_.size()}; }
    /// Spans on the host; on a device copies, in its memory, so that nobody changes those of the map.
    /// errors   none, on a device as Tensor::from_shape
    /// cost     O(1), on a device a copy
    auto elements() const {
        if constexpr (detail::is_cpu<Device>) {
            return std::span<std::int64_t const>(elements_.data(), elements_.size());
        } else {
            return elements_;
        }
    }
    /// The elements of step t: for each sequence that has one, which row or sequence of the level below it is; none from steps() on.
    /// errors   as elements
    /// cost     O(1), on a device a copy of them
    auto step(std::size_t t) const {
        std::size_t const begin = t < steps() ? static_cast<std::size_t>(starts()[t]) : 0;
        if constexpr (detail::is_cpu<Device>) {
            return elements().subspan(begin, step_size(t));
        } else {
            auto const step = elements_.slice(begin, begin + step_size(t));
            return Tensor<std::int64_t, Device>(step);
        }
    }

    /// The length of the sequence at position j.
    std::int64_t length(std::size_t j) const noexcept {
        auto const s = static_cast<std::size_t>(sequence(j));
        return offsets_[s + 1] - offsets_[s];
    }

    /// Are sequences in descending order of length, so that those of a step are the first positions?
    bool sorted() const noexcept { return sorted_; }

private:
    friend struct detail::StepMapAccess;

    // How many sequences each step has, and room for the order of the sequences.
    detail::Buffer<std::int32_t> make_steps() {
        offsets_ = lod_[level_];
        std::size_t const n = offsets_.size() - 1;
        if (n > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
            throw ShapeError("sequences", std::to_string(n), "at most 2^31 - 1");
        }
        std::int64_t most = 0;
        for (std::size_t s = 0; s < n; ++s) most = std::max(most, offsets_[s + 1] - offsets_[s]);
        starts_ = Tensor<std::int64_t>::zeros({static_cast<std::size_t>(most) + 1});
        std::int64_t* const starts = starts_.data();
        // Step t holds as many as are longer than t: counted at their last step, summed from the end, then from the begin.
        for (std::size_t s = 0; s < n; ++s) {
            if (offsets_[s + 1] != offsets_[s]) ++starts[offsets_[s + 1] - offsets_[s]];
        }
        for (std::int64_t t = most - 1; t > 0; --t) starts[t] += starts[t + 1];
        std::partial_sum(starts, starts + most + 1, starts);
        return detail::Buffer<std::int32_t>(n);
    }

    void sort(detail::Buffer<std::int32_t>& order) const {
        // Sequences of length l come after all longer ones, of which step l has as many.
        detail::Buffer<std::int64_t> place(steps() + 1);
        for (std::size_t l = 0; l <= steps(); ++l) place[l] = static_cast<std::int64_t>(step_size(l));
        for (std::size_t s = 0; s + 1 < offsets_.size(); ++s) {
            auto const l = static_cast<std::size_t>(offsets_[s + 1] - offsets_[s]);
            order[static_cast<std::size_t>(place[l]++)] = static_cast<std::int32_t>(s);
        }
    }

    struct Run {
        std::int64_t next;  // its next element
        std::int64_t end;
    };

    void fill(Device const& exec, detail::Buffer<std::int32_t> order) {
        std::size_t const n = order.size();
        auto shown = Tensor<std::int32_t>::from_shape({n});
        std::ranges::copy(order, shown.data());
        shown_ = detail::placed(exec, std::move(shown));
        order_ = std::allocate_shared<detail::Buffer<std::int32_t> const>(Allocator<std::int32_t>(), std::move(order));
        for (std::size_t j = 1; j < n && sorted_; ++j) sorted_ = length(j) <= length(j - 1);
        elements_ = detail::StepElements<Device>::make(exec, *this);
    }

    std::size_t element_count() const { return static_cast<std::size_t>(starts().back()); }

    void fill_elements(Cpu exec, std::int64_t* out) const {
        std::size_t const count = element_count();
        auto const shares = static_cast<std::size_t>(detail::threads_for(exec, count));
        parallel_for(exec, shares, 1, [&](std::size_t k, std::size_t end) {
            for (; k < end; ++k) fill_share(k, shares, count, out);
        });
    }

    // Steps that begin in share k of the elements: a list of the sequences that go on, which gets shorter from step to step.
    void fill_share(std::size_t k, std::size_t shares, std::size_t count, std::int64_t* elements) const {
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
            if (sorted_) {  // the first step_size(t) of them
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

    Lod lod_;
    std::size_t level_ = 0;
    std::span<std::int64_t const> offsets_;  // lod_[level_]
    bool sorted_ = true;
    std::shared_ptr<detail::Buffer<std::int32_t> const> order_;  // copies of a map share it
    Tensor<std::int32_t, Device> shown_;                         // the same, for order()
    Tensor<std::int64_t> starts_;
    Tensor<std::int64_t, Device> elements_;
};

namespace detail {

/// What steps must have in common with a map to be put together by it: the sequences and their order.
struct StepOrigin {
    Lod lod;  // down to the level of the steps
    std::shared_ptr<detail::Buffer<std::int32_t> const> order;

    friend bool operator==(StepOrigin const& a, StepOrigin const& b) noexcept {
        return a.lod == b.lod && (a.order == b.order || (a.order && b.order && *a.order == *b.order));
    }
};

struct StepMapAccess {
    template <class D>
    static StepOrigin origin(StepMap<D> const& map) {
        return {map.lod_.slice_levels(0, std::min(map.level_ + 1, map.lod_.levels())), map.order_};
    }

    template <class D>
    static std::int64_t begin(StepMap<D> const& map, std::size_t j) {
        return map.offsets_[static_cast<std::size_t>(map.sequence(j))];
    }

    /// Where the elements lie in the memory of the device.
    template <class D>
    static std::int64_t const* elements(StepMap<D> const& map) {
        return map.elements_.data();
    }
    template <class D>
    static std::size_t count(StepMap<D> const& map) {
        return map.elements_.size();
    }

    /// The elements as the host counts them.
    template <class D>
    static Tensor<std::int64_t> make_elements(Cpu exec, StepMap<D> const& map) {
        std::size_t const count = map.element_count();
        auto elements = Tensor<std::int64_t>::from_shape({count});
        map.fill_elements(exec, elements.data());
        return elements;
    }

    /// The elements where the host can read them.
    template <class D>
    static Tensor<std::int64_t> host_elements(StepMap<D> const& map) {
        if constexpr (is_cpu<D>) {
            return map.elements_.share();
        } else {
            return make_elements(Cpu{}, map);
        }
    }
};

template <>
struct StepElements<Cpu> {
    static Tensor<std::int64_t> make(Cpu exec, StepMap<> const& map);
};

}  // namespace detail

ROWAN_TEMPLATE(class StepMap<Cpu>)

}  // namespace rowan::inline v0

#include <rowan/sequence/step_map_inl.hpp>
