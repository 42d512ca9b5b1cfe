// rowan/thrust/sequence/sequence_mask.hpp: sequence_mask on a device.
#pragma once

#include <rowan/sequence/sequence_mask.hpp>
#include <rowan/thrust/detail/lane.hpp>
#include <rowan/thrust/detail/on_device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace rowan::inline v0 {

namespace detail {

template <class I>
struct MarkPlace {
    I const* lengths;
    FastDivmod width;
    bool* mask;
    ROWAN_HD void operator()(std::size_t k) const {
        std::size_t const i = width.quotient(k);
        mask[k] = static_cast<std::int64_t>(k - i * width.by) < static_cast<std::int64_t>(lengths[i]);
    }
};

}  // namespace detail

/// As on the host. Without max_length, lengths in device memory are copied to the host, which synchronizes; with it,
/// the next synchronize or copy to the host throws the IndexError of a negative one.
template <class System>
Tensor<bool, ThrustDevice<System>> sequence_mask(ThrustDevice<System> const& exec,
                                                 std::type_identity_t<Ids<ThrustDevice<System>>> lengths,
                                                 std::optional<std::size_t> max_length = {}) {
    using Device = ThrustDevice<System>;
    std::size_t width = max_length.value_or(0);
    if (!max_length) {
        detail::HostIds<Device> const on_host(exec, lengths);
        Ids<> const& list = on_host;
        detail::check_ids(Cpu{}, "lengths", list, std::numeric_limits<std::int64_t>::max());
        for (std::size_t i = 0; i < list.size(); ++i) width = std::max(width, static_cast<std::size_t>(list[i]));
    }
    detail::DeviceIds<System> const checked(exec, "lengths", lengths, std::numeric_limits<std::int64_t>::max());
    auto shape = lengths.shape();
    shape.push_back(width);
    auto mask = Tensor<bool, Device>::from_shape(exec, shape);
    detail::check_on_device(exec, checked);
    if (width == 0) return mask;
    checked.visit([&]<class I>(I const* list) {
        detail::launch(exec, mask.size(), detail::MarkPlace<I>{list, detail::FastDivmod(width), mask.data()});
    });
    return mask;
}

template <id_type I, class System>
Tensor<bool, ThrustDevice<System>> sequence_mask(Tensor<I, ThrustDevice<System>> const& lengths,
                                                 std::optional<std::size_t> max_length = {}) {
    return sequence_mask(ThrustDevice<System>{}, lengths, max_length);
}

}  // namespace rowan::inline v0
