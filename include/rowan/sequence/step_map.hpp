// rowan/sequence/step_map.hpp: StepMap, the mapping between the sequences of a batch and its steps.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/lod.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

struct StepMapAccess;

/// Device-specific part of a map. make(exec, map) returns a tensor of its elements; part(elements, begin, n) returns n
/// of them for the caller, and kept(elements, part) the same if the map is a temporary; on_host(elements, map) returns
/// all of them in host memory; host_step(map, t) returns those of a step if they are in host memory, otherwise none.
template <class D>
struct StepElements {
    static_assert(has_backend<D>,
                  "rowan: StepMap on a Thrust device needs #include <rowan/thrust/sequence/step_map.hpp>");
};

/// The part of a map that is in host memory, for any device.
struct HostSteps {
    ROWAN_IF_CALLED HostSteps();
    /// Computes the starts of the steps.
    ROWAN_IF_CALLED HostSteps(Lod lod, std::size_t level);

    /// The sequences by descending length, or as they are.
    ROWAN_IF_CALLED Buffer<std::int32_t> in_order(bool sort_by_length) const;
    /// The caller's order, checked.
    ROWAN_IF_CALLED Buffer<std::int32_t> in_order(Cpu exec, Ids<> const& of_caller) const;
    /// Keeps the order and returns a copy.
    ROWAN_IF_CALLED Tensor<std::int32_t> keep(Buffer<std::int32_t> made);

    ROWAN_IF_CALLED void fill_elements(Cpu exec, std::int64_t* out) const;
    ROWAN_IF_CALLED void fill_share(std::size_t k, std::size_t shares, std::int64_t* elements) const;

    std::int32_t sequence(std::size_t j) const noexcept { return (*order)[j]; }
    std::size_t sequences() const noexcept { return order ? order->size() : 0; }
    std::size_t steps() const noexcept { return starts.size() == 0 ? 0 : starts.size() - 1; }
    std::size_t step_size(std::size_t t) const noexcept {
        return t < steps() ? static_cast<std::size_t>(starts.data()[t + 1] - starts.data()[t]) : 0;
    }
    std::int64_t length(std::size_t j) const noexcept {
        auto const s = static_cast<std::size_t>(sequence(j));
        return offsets[s + 1] - offsets[s];
    }

    Lod lod;
    std::size_t level = 0;
    std::span<std::int64_t const> offsets;  // lod[level]
    bool sorted = true;
    std::shared_ptr<Buffer<std::int32_t> const> order;  // shared by copies of the map
    Tensor<std::int64_t> starts;
};

}  // namespace detail

/// How the sequences of one level are split into steps: step t holds element t of every sequence longer than t. An
/// element is a row or a sequence of the next level.
///
///     lengths 3 6 1, sorted   ->   order()      [1 0 2]            the sequences, longest first
///     rows of 0: 0 1 2             starts()     [0 3 5 7 8 9 10]   step t is elements()[starts()[t] … starts()[t + 1])
///             1: 3 4 5 6 7 8       elements()   [3 0 9  4 1  5 2  6  7  8]
///             2: 9
///
/// On a device, elements() and order() are in device memory; everything else is always in host memory.
template <class Device>
class StepMap {
public:
    /// No sequences, no steps.
    StepMap() = default;

    StepMap(StepMap const&) = default;
    StepMap(StepMap&&) noexcept = default;
    StepMap& operator=(StepMap const& other) { return *this = StepMap(other); }
    StepMap& operator=(StepMap&& other) noexcept {
        StepMap moved(std::move(other));
        host_ = std::move(moved.host_);
        shown_ = std::move(moved.shown_);
        elements_ = std::move(moved.elements_);
        return *this;
    }
    ~StepMap() = default;

    /// Sorts sequences by descending length, which is the default and a stable sort, or keeps the input order.
    /// errors   IndexError if lod has no such level; ShapeError if it has more than 2^31 - 1 sequences
    /// cost     a counting sort: O(sequences + elements), 8 bytes per element. On a device the host sorts,
    ///          O(sequences + steps), and the elements are computed there; for an order that is not sorted by length,
    ///          the host computes and copies them
    template <std::same_as<bool> B>  // so that a braced list selects the overload with an order
    StepMap(Device const& exec, Lod lod, std::size_t level, B sort_by_length) : host_(std::move(lod), level) {
        fill(exec, host_.in_order(sort_by_length));
    }
    template <std::same_as<bool> B>
    StepMap(Lod lod, std::size_t level, B sort_by_length) : StepMap(Device{}, std::move(lod), level, sort_by_length) {}
    StepMap(Device const& exec, Lod lod, std::size_t level) : StepMap(exec, std::move(lod), level, true) {}
    StepMap(Lod lod, std::size_t level) : StepMap(Device{}, std::move(lod), level, true) {}

    /// Uses the caller's order of the sequences.
    /// errors   IndexError if lod has no such level, or a number is not in [0, sequences) or repeats; ShapeError if the
    ///          level has more than 2^31 - 1 sequences, or order is not a flat list of one number for each
    /// cost     O(sequences + elements), 8 bytes per element; an order in device memory is copied to the host, which
    ///          synchronizes
    StepMap(Device const& exec, Lod lod, std::size_t level, Ids<Device> ids);
    StepMap(Lod lod, std::size_t level, Ids<Device> order) : StepMap(Device{}, std::move(lod), level, order) {}
    template <id_type I>
    StepMap(Lod lod, std::size_t level, Tensor<I, Device> const& order)
        : StepMap(order.device(), std::move(lod), level, order) {}

    Lod const& lod() const& noexcept { return host_.lod; }  ///< the Lod whose sequences are split
    Lod lod() && noexcept { return host_.lod; }
    std::size_t level() const noexcept { return host_.level; }  ///< and which of its levels

    /// order()[j] is sequence(j). It is a copy for the caller: modifying it through share() does not affect the map.
    Tensor<std::int32_t, Device> const& order() const& noexcept { return shown_; }
    Tensor<std::int32_t, Device> order() && noexcept { return std::move(shown_); }

    /// The sequence at position j.
    std::int32_t sequence(std::size_t j) const noexcept { return host_.sequence(j); }
    /// The number of sequences of the level.
    std::size_t sequences() const noexcept { return host_.sequences(); }

    /// The number of steps: the length of the longest sequence.
    std::size_t steps() const noexcept { return host_.steps(); }

    /// The number of sequences that have a step t; 0 if t >= steps().
    std::size_t step_size(std::size_t t) const noexcept { return host_.step_size(t); }

    /// Step t is elements [starts()[t], starts()[t + 1]).
    std::span<std::int64_t const> starts() const& noexcept { return {host_.starts.data(), host_.starts.size()}; }
    detail::KeptSpan<std::int64_t const> starts() && noexcept { return {starts(), host_.starts.storage().memory()}; }
    /// The elements of all steps: a span on the host; on a device a copy in device memory, so that the map cannot be
    /// modified.
    /// errors   none; on a device as Tensor::from_shape
    /// cost     O(1); on a device one copy
    auto elements() const& { return detail::StepElements<Device>::part(elements_, 0, elements_.size()); }
    auto elements() && { return detail::StepElements<Device>::kept(elements_, elements()); }
    /// The elements of step t: for each sequence longer than t, the index of its row or next-level sequence. Empty if
    /// t >= steps().
    /// errors   as elements
    /// cost     O(1); on a device one copy of them
    auto step(std::size_t t) const& {
        std::size_t const begin = t < steps() ? static_cast<std::size_t>(starts()[t]) : 0;
        return detail::StepElements<Device>::part(elements_, begin, step_size(t));
    }
    auto step(std::size_t t) && { return detail::StepElements<Device>::kept(elements_, step(t)); }

    /// The length of the sequence at position j.
    std::int64_t length(std::size_t j) const noexcept { return host_.length(j); }

    /// True if the lengths of the sequences descend, so that the sequences of each step are the first positions.
    bool sorted() const noexcept { return host_.sorted; }

private:
    friend struct detail::StepMapAccess;

    void fill(Device const& exec, detail::Buffer<std::int32_t> order) {
        shown_ = to_device(exec, host_.keep(std::move(order)));
        elements_ = detail::StepElements<Device>::make(exec, *this);
    }

    detail::HostSteps host_;
    Tensor<std::int32_t, Device> shown_;  // a copy of the order, for order()
    Tensor<std::int64_t, Device> elements_;
};

namespace detail {

/// The sequences and their order, which must be equal for the map that unpacked the steps and the map that packs them.
struct StepOrigin {
    Lod lod;  // levels 0 … level of the map
    std::shared_ptr<detail::Buffer<std::int32_t> const> order;

    ROWAN_IF_CALLED bool equals(StepOrigin const& other) const noexcept;
};

struct StepMapAccess {
    ROWAN_IF_CALLED static StepOrigin origin(HostSteps const& steps);

    template <class D>
    static StepOrigin origin(StepMap<D> const& map) {
        return origin(map.host_);
    }

    template <class D>
    static std::int64_t begin(StepMap<D> const& map, std::size_t j) {
        return map.host_.offsets[static_cast<std::size_t>(map.sequence(j))];
    }

    /// Throws unless a call on `exec` may use the map.
    template <class D>
    static void check_usable(D const& exec, StepMap<D> const& map) {
        detail::check_usable(exec, map.elements_);
    }
    /// A pointer to the elements in device memory.
    template <class D>
    static std::int64_t const* elements(StepMap<D> const& map) {
        return map.elements_.data();
    }
    template <class D>
    static std::size_t count(StepMap<D> const& map) {
        return map.elements_.size();
    }

    /// Computes the elements on the host.
    ROWAN_IF_CALLED static Tensor<std::int64_t> make_elements(Cpu exec, HostSteps const& steps);
    template <class D>
    static Tensor<std::int64_t> make_elements(Cpu exec, StepMap<D> const& map) {
        return make_elements(exec, map.host_);
    }
    /// The elements in host memory.
    template <class D>
    static Tensor<std::int64_t> host_elements(StepMap<D> const& map) {
        return StepElements<D>::on_host(map.elements_, map);
    }
};

template <>
struct StepElements<Cpu> {
    ROWAN_IF_CALLED static Tensor<std::int64_t> make(Cpu exec, StepMap<> const& map);
    static std::span<std::int64_t const> part(Tensor<std::int64_t> const& elements, std::size_t begin, std::size_t n) {
        return {elements.data() + begin, n};
    }
    static KeptSpan<std::int64_t const> kept(Tensor<std::int64_t> const& elements, std::span<std::int64_t const> part) {
        return {part, elements.storage().memory()};
    }
    static Tensor<std::int64_t> on_host(Tensor<std::int64_t> const& elements, StepMap<> const&) {
        return elements.share();
    }
    static std::span<std::int64_t const> host_step(StepMap<> const& map, std::size_t t) { return map.step(t); }
};

}  // namespace detail

template <class Device>
StepMap<Device>::StepMap(Device const& exec, Lod lod, std::size_t level, Ids<Device> ids)
    : host_(std::move(lod), level) {
    detail::HostIds<Device> const on_host(exec, ids);
    fill(exec, host_.in_order(detail::host_exec(exec), on_host));
}

ROWAN_TEMPLATE(class StepMap<Cpu>)

}  // namespace rowan::inline v0

#include <rowan/sequence/step_map_inl.hpp>
